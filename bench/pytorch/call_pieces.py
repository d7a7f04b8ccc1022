#!/usr/bin/env python3
"""Where the time of a timed call of `cudal1 bench` goes, beside a plain loop:

    call_pieces.py MODULE.py… [--ways eager,compile] [--rehearsals 0,1,10] [--device cuda]

A line for the plain loop (before other ways are made in this process, and after), then one for each number of
rehearsals: eager's median with ways taking turns, and the host's time for each piece around it, in microseconds:
  draw copy          new inputs for a round; copies of them for a call
  idle               until rehearsals and the flush are over on the device
  start call end     the first event, the call until it returns, the second event
  wait               from then on until the device is done
"""

from __future__ import annotations

import argparse
import gc
import pathlib
import random
import statistics
import sys
import time
from collections import defaultdict

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "python"))

import plain_timing  # noqa: E402
import torch  # noqa: E402
from cudal1_bridge import worker as bridge  # noqa: E402
from cudal1_bridge.module_file import load_module_file  # noqa: E402
from cudal1_bridge.variants import VARIANTS  # noqa: E402

PIECES = ("draw", "copy", "idle", "start", "call", "end", "wait")


class Stopwatch:
    """Microseconds since the last look, by piece."""

    def __init__(self) -> None:
        self.pieces: dict[str, list[float]] = defaultdict(list)
        self._last = time.perf_counter()

    def restart(self) -> None:
        self._last = time.perf_counter()

    def add(self, piece: str) -> None:
        now = time.perf_counter()
        self.pieces[piece].append(1e6 * (now - self._last))
        self._last = now


class WatchedClock(bridge.Clock):
    """As its base does it on a GPU, with looks at a watch between."""

    watch: Stopwatch

    def rehearse(self, call):
        if not self._cuda:
            self.watch.restart()
            times = super().rehearse(call)
            self.watch.add("call")
            return times
        torch.cuda.synchronize()
        self.watch.add("idle")
        self._start.record()
        self.watch.add("start")
        result = call()
        self.watch.add("call")
        self._end.record()
        self.watch.add("end")
        torch.cuda.synchronize()
        self.watch.add("wait")
        del result
        return {"device_ms": self._start.elapsed_time(self._end), "host_ms": 0.0}


class WatchedWorker(bridge.Worker):
    def __init__(self, file, device):
        self._watches: dict[str, Stopwatch] = defaultdict(Stopwatch)
        super().__init__(file, device)
        self._clock = WatchedClock(device)

    def draw(self, seed):
        watch = self._watches["eager"]
        watch.restart()
        super().draw(seed)
        watch.add("draw")

    def time(self, name):
        """Pieces of the call that counts; those of its rehearsals are left out."""
        total, self._clock.watch = self._watches[name], Stopwatch()
        self._clock.watch.restart()
        bridge.tree_map(bridge.copied, (self._positional, self._named))  # a second time, only to see what it takes
        self._clock.watch.add("copy")
        times = super().time(name)
        for piece, values in self._clock.watch.pieces.items():
            total.pieces[piece].append(values[-1])
        return times

    def measure(self, ways, rehearsals, seconds):
        """Eager's median in us, and the median of each piece."""
        self._watches.clear()
        bridge.rehearsals = lambda slowest_ms: rehearsals
        rounds = [{"seed": seed, "order": random.sample(ways, len(ways))} for seed in range(500)]
        self.rounds(rounds[:3], 0.0, 3)
        self._watches.clear()
        times = self.rounds(rounds, seconds, 7)
        eager = [1e3 * round["eager"][0] for round in times]
        return eager, {piece: statistics.median(values) for piece, values in self._watches["eager"].pieces.items()}


def made_ways(worker, names):
    made = []
    for name in names:
        try:
            worker.make(VARIANTS[name])
            made.append(name)
        except Exception as problem:
            print(f"  {name} was not made: {problem}".splitlines()[0])
    return made


def plain_line(when, file, options, device):
    if device.type != "cuda":
        return None
    plain, calls = plain_timing.median_ms(file.source, options.seconds, device)
    print(f"  {when:28}{1e3 * plain:9.1f} us {'':9} {calls:4} calls")
    return 1e3 * plain


def show(path, options, device):
    file = load_module_file(path)
    print(f"{path.stem}:")
    plain = plain_line("plain loop", file, options, device)
    worker = WatchedWorker(file, device)
    ways = made_ways(worker, options.ways.split(","))
    for alone in (True, False) if len(ways) > 1 else (True,):
        for count in map(int, options.rehearsals.split(",")):
            eager, pieces = worker.measure(["eager"] if alone else ways, count, options.seconds)
            said = f"{'eager only' if alone else 'ways in turn'}, {count} rehearsals"
            ratio = f"{statistics.median(eager) / plain:7.3f} x" if plain else f"{'':9}"
            parts = "  ".join(f"{piece} {pieces[piece]:.1f}" for piece in PIECES if piece in pieces)
            print(f"  {said:28}{statistics.median(eager):9.1f} us {ratio} {len(eager):4} calls  {parts}", flush=True)
    plain_line("plain loop, after all that", file, options, device)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("modules", type=pathlib.Path, nargs="+")
    parser.add_argument("--ways", default="eager,compile,cuda-graph")
    parser.add_argument("--rehearsals", default=f"0,1,{bridge.MOST_REHEARSALS}")
    parser.add_argument("--seconds", type=float, default=0.3, help="for each line")
    parser.add_argument("--device", default="cuda")
    options = parser.parse_args()
    gc.disable()  # as the bench does
    for path in options.modules:
        show(path, options, torch.device(options.device))
        gc.collect()
    return 0


if __name__ == "__main__":
    sys.exit(main())
