#!/usr/bin/env python3
"""A suite that was optimised with a trained model beside one that the search optimised alone (bench/writer.sh suite):

    suite_row.py MERGED_BENCH_FOLDER --shares SHARE/optimize.json… --tasks N --alone optimized.csv --rows FILE"""

from __future__ import annotations

import argparse
import csv
import json
import pathlib
import sys

BENCH = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(BENCH / "python"), str(BENCH / "writer")]
from result_rows import row  # noqa: E402
from suite_rows import commit_of, geometric_mean, number  # noqa: E402

GAINED = 1.01  # a smaller difference is none


def speeds_in(file):
    """(level, name) -> speed-up over the best baseline, of the tasks that count, each with a right program and a time."""
    with file.open(newline="") as table:
        return {(line["level"], line["name"]): number(line["speedup_best"]) for line in csv.DictReader(table)
                if line["status"] == "ok" and line["speedup_best"] and line["degenerate"] != "1"}


def all_in(file):
    with file.open(newline="") as table:
        return sum(1 for _ in csv.DictReader(table))


def moved(ours, alone, by):
    """Tasks of which one is faster than the other, those that moved most first."""
    both = {task: (ours[task], alone[task]) for task in ours.keys() & alone.keys() if by(ours[task], alone[task]) > GAINED}
    order = sorted(both, key=lambda task: -by(*both[task]))
    return {f"level{level}/{name}": list(both[level, name]) for level, name in order}


def suite_row(ours, measured, tasks, alone, details):
    """Nothing holds before all of the suite is measured, and the search alone too."""
    value = geometric_mean(list(ours.values()))
    bar = geometric_mean(list(alone.values())) if alone else None
    said = "at least the 20-evaluation figure of search alone" + (f" ({bar:.3f})" if bar else ", which is not measured yet")
    details = {"tasks": len(ours), "of": tasks} | details
    if alone:
        details |= {"gained, with and without the model": moved(ours, alone, lambda with_it, without: with_it / without),
                    "lost": moved(ours, alone, lambda with_it, without: without / with_it)}
    return row("dev suite (paper sizes), trained model + search, 16 evaluations a task, against the best baseline", value,
               "x, geometric mean", said, measured == tasks and bar is not None and value >= bar, details)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--shares", type=pathlib.Path, nargs="+", required=True)
    parser.add_argument("--tasks", type=int, required=True, help="how many the suite has")
    parser.add_argument("--alone", type=pathlib.Path, required=True)
    parser.add_argument("--rows", type=pathlib.Path, required=True)
    options = parser.parse_args()
    names = [result["task"] for file in options.shares for result in json.loads(file.read_text())["results"]]
    if len(set(names)) < len(names):
        sys.exit("some tasks are in several shares: keep those of one way to split the suite")
    alone = speeds_in(options.alone) if options.alone.exists() else {}
    ours = speeds_in(options.folder / "results.csv")
    if not ours:
        sys.exit("no task has a right program and a time")
    details = {"commits of the shares": sorted({commit_of(file) for file in options.shares})}
    made = suite_row(ours, all_in(options.folder / "results.csv"), options.tasks, alone, details)
    options.rows.write_text(json.dumps([made]) + "\n")


if __name__ == "__main__":
    main()
