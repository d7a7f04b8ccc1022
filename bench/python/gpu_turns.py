#!/usr/bin/env python3
"""What a GPU's lock was used for, window by window, from a ledger (CUDAL1_GPU_LEDGER=FILE, docs/train.md):

    gpu_turns.py LEDGER [--window SECONDS]

For each use: turns, seconds in which at least one went on, and seconds of all turns, which are more where they overlap.
Then the seconds in which nobody had the lock."""

from __future__ import annotations

import argparse
import pathlib

USES = ("model", "check", "measurement")


def turns_in(text: str) -> list[tuple[float, float, str]]:
    turns = []
    for line in text.splitlines():
        words = line.split()
        if len(words) == 3 and words[2] in USES:  # the last line may not be whole
            turns.append((float(words[0]), float(words[1]), words[2]))
    return turns


def covered(intervals: list[tuple[float, float]]) -> float:
    """Seconds that lie in at least one of them."""
    seconds, reached = 0.0, float("-inf")
    for begin, end in sorted(intervals):
        seconds += max(0.0, end - max(begin, reached))
        reached = max(reached, end)
    return seconds


def within(turns: list[tuple[float, float, str]], begin: float, end: float) -> list[tuple[float, float, str]]:
    return [(max(turn[0], begin), min(turn[1], end), turn[2]) for turn in turns if turn[0] < end and turn[1] > begin]


def table(turns: list[tuple[float, float, str]], window: float) -> list[str]:
    first, last = min(turn[0] for turn in turns), max(turn[1] for turn in turns)
    lines = [f"{'from s':>8}" + "".join(f"  {use:>26}" for use in USES) + f"  {'nobody':>7}"]
    begin = first
    while begin < last:
        here = within(turns, begin, min(begin + window, last))
        cells = []
        for use in USES:
            intervals = [(turn[0], turn[1]) for turn in here if turn[2] == use]
            cells.append(f"  {len(intervals):>6} {covered(intervals):>9.1f} {sum(b - a for a, b in intervals):>9.1f}")
        idle = min(window, last - begin) - covered([(turn[0], turn[1]) for turn in here])
        lines.append(f"{begin - first:>8.0f}" + "".join(cells) + f"  {idle:>7.1f}")
        begin += window
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ledger", type=pathlib.Path)
    parser.add_argument("--window", type=float, default=20.0)
    options = parser.parse_args()
    turns = turns_in(options.ledger.read_text())
    print("\n".join(table(turns, options.window)) if turns else "no turns")


if __name__ == "__main__":
    main()
