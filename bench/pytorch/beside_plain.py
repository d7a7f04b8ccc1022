#!/usr/bin/env python3
"""Compares the eager times of a bench's workers with a plain PyTorch timing loop (plain_timing.py):

    beside_plain.py RESULTS.jsonl SUITE.jsonl|FOLDER… -o TIMES.json

For every task that a bench has timed, in one process, a few calls of one and a few of the other by turns: how fast a
processor is that others use as well changes from second to second. Modules are found by name in JSONL files (`name`,
`code`) or folders (NAME.py)."""

from __future__ import annotations

import argparse
import gc
import json
import pathlib
import statistics
import sys
import tempfile
import time

import torch

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent.parent / "python")]
from cudal1_bridge.module_file import load_module_file  # noqa: E402
from cudal1_bridge.variants import VARIANTS  # noqa: E402
from cudal1_bridge.worker import Worker  # noqa: E402
from plain_timing import PlainLoop  # noqa: E402

CALLS_A_TURN = 4
FEWEST_TURNS = 5


def tasks_of(results: pathlib.Path) -> dict[tuple, float]:
    """{(suite, level, name): the bench's median of eager}, of what was measured."""
    found = {}
    for line in results.read_text().splitlines():
        row = json.loads(line)
        eager = [way for way in row["ways"] if way["way"] == "eager" and way.get("device_ms")]
        if eager and not row["predicted"]:
            found[row["suite"], row["level"], row["name"]] = statistics.median(eager[0]["device_ms"])
    return found


def sources(paths: list[pathlib.Path]) -> dict[tuple, str]:
    """{(suite, level, name): code}; of folders the suite is the folder's name, and the level that of `levelN/`."""
    found = {}
    for path in paths:
        if path.is_dir():
            for file in path.rglob("*.py"):
                level = file.parent.name.removeprefix("level")
                found[path.name, int(level) if level.isdigit() else None, file.stem] = file.read_text()
        else:
            for line in path.read_text().splitlines():
                task = json.loads(line)
                found[task.get("suite", path.stem), task.get("level"), task["name"]] = task["code"]
    return found


class OurLoop:
    """What a bench's worker does when it is asked for times of eager mode."""

    def __init__(self, code: str, device: torch.device, folder: pathlib.Path) -> None:
        file = folder / "module.py"
        file.write_text(code)
        self._worker = Worker(load_module_file(file), device)
        self._worker.make(VARIANTS["eager"])
        self._seed = 0

    def times_ms(self, calls: int) -> list[float]:
        rounds = [{"seed": self._seed + i, "order": ["eager"]} for i in range(calls)]
        self._seed += calls
        gc.disable()  # as workers do
        try:
            return [round["eager"][0] for round in self._worker.rounds(rounds, 0.0, calls)]
        finally:
            gc.enable()


def medians_by_turns(code: str, seconds: float, device: torch.device) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        ours, plain = OurLoop(code, device, pathlib.Path(folder)), PlainLoop(code, device)
        ours.times_ms(CALLS_A_TURN)  # how many rehearsals it takes is known after some
        times: dict[str, list[float]] = {"ours_ms": [], "plain_ms": []}
        limit, turns = time.perf_counter() + seconds, 0
        while turns < FEWEST_TURNS or time.perf_counter() < limit:
            times["ours_ms"] += ours.times_ms(CALLS_A_TURN)
            times["plain_ms"] += plain.times_ms(CALLS_A_TURN)
            turns += 1
    return {name: statistics.median(values) for name, values in times.items()} | {"calls": turns * CALLS_A_TURN}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=pathlib.Path, help="results.jsonl of a bench")
    parser.add_argument("suites", type=pathlib.Path, nargs="+", help="where the modules are")
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True)
    parser.add_argument("--above-ms", type=float, default=0.05, help="leave shorter ones out")
    parser.add_argument("--seconds", type=float, default=0.4, help="for each task, about")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        print("beside_plain: there is no GPU", file=sys.stderr)
        return 1
    known, rows = sources(options.suites), []
    for key, bench in tasks_of(options.results).items():
        if bench <= options.above_ms or key not in known:
            continue
        try:
            medians = medians_by_turns(known[key], options.seconds, torch.device("cuda"))
            rows.append({"suite": key[0], "level": key[1], "name": key[2], "bench_ms": bench} | medians)
        except Exception as problem:
            print(f"beside_plain: {key[2]}: {type(problem).__name__}: {problem}", file=sys.stderr)
        gc.collect()
        torch.cuda.empty_cache()
    options.output.write_text(json.dumps({"tasks": rows}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
