#!/usr/bin/env python3
"""A plain PyTorch timing loop, for comparison with `cudal1 bench`: nothing of ours is imported.

    plain_timing.py RESULTS.jsonl SUITE.jsonl|FOLDER… -o TIMES.json

For every task that a bench has timed: load the module, call it in eager mode with events around each call, take the
median. Modules are found by name in JSONL files (`name`, `code`) or folders (NAME.py)."""

from __future__ import annotations

import argparse
import json
import pathlib
import statistics
import sys
import time

import torch


def tasks_of(results: pathlib.Path) -> dict[tuple, float]:
    """{(suite, level, name): our median of eager}, of what was measured."""
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


def median_ms(code: str, seconds: float, device: torch.device) -> tuple[float, int]:
    module: dict = {"__name__": "module"}
    exec(compile(code, "module", "exec"), module)
    torch.manual_seed(0)
    with torch.device(device):
        arguments = module["get_init_inputs"]() if "get_init_inputs" in module else []
        model = module["Model"](**arguments) if isinstance(arguments, dict) else module["Model"](*arguments)
        inputs = module["get_inputs"]()
    model.to(device)
    call = (lambda: model(**inputs)) if isinstance(inputs, dict) else (lambda: model(*inputs))
    cache = torch.empty(512 << 20, dtype=torch.uint8, device=device)  # written between calls: inputs come from memory
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    times: list[float] = []
    with torch.no_grad():
        for _ in range(5):
            call()
        torch.cuda.synchronize()
        limit = time.perf_counter() + seconds
        while len(times) < 20 or (time.perf_counter() < limit and len(times) < 200):
            cache.fill_(len(times) % 256)
            torch.cuda.synchronize()
            start.record()
            call()
            end.record()
            torch.cuda.synchronize()
            times.append(start.elapsed_time(end))
    return statistics.median(times), len(times)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=pathlib.Path, help="results.jsonl of a bench")
    parser.add_argument("suites", type=pathlib.Path, nargs="+", help="where the modules are")
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True)
    parser.add_argument("--above-ms", type=float, default=0.05, help="leave shorter ones out")
    parser.add_argument("--seconds", type=float, default=0.3, help="for each task, at most")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        print("plain_timing: there is no GPU", file=sys.stderr)
        return 1
    known, rows = sources(options.suites), []
    for key, ours in tasks_of(options.results).items():
        if ours <= options.above_ms or key not in known:
            continue
        try:
            plain, calls = median_ms(known[key], options.seconds, torch.device("cuda"))
            rows.append({"suite": key[0], "level": key[1], "name": key[2], "ours_ms": ours, "plain_ms": plain, "calls": calls})
        except Exception as problem:
            print(f"plain_timing: {key[2]}: {type(problem).__name__}: {problem}", file=sys.stderr)
        torch.cuda.empty_cache()
    options.output.write_text(json.dumps({"tasks": rows}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
