#!/usr/bin/env python3
"""Rows of bench/results/writer.json about a suite that `cudal1 optimize` went through, in one piece or in shares:

    suite_rows.py MERGED_BENCH_FOLDER --optimized SHARE/optimize.json… --tasks N --gpu NAME --commit HASH"""

from __future__ import annotations

import argparse
import collections
import csv
import json
import math
import pathlib
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "python"))
from result_rows import RESULTS, row, write  # noqa: E402


def geometric_mean(values):
    return math.exp(statistics.fmean(map(math.log, values))) if values else float("nan")


def number(text):
    return float(text) if text else None


def speed_rows(table, tasks):
    """Of the tasks that count: degenerate ones do not. Nothing holds before all of the suite is measured."""
    whole = len(table) == tasks
    timed = [line for line in table if line["status"] == "ok" and line["speedup_best"] and line["degenerate"] != "1"]
    best = [number(line["speedup_best"]) for line in timed]
    eager = [number(line["speedup_eager"]) for line in timed]
    slower = [line for line in timed if number(line["high_best"]) < 1.0]
    mean, geometric = (statistics.fmean(eager), geometric_mean(eager)) if eager else (float("nan"), float("nan"))
    median = statistics.median(eager) if eager else float("nan")
    share = len(slower) / len(timed) if timed else float("nan")
    details = {"tasks": len(timed), "of": tasks}
    return [
        row("against the best of four baselines per task, geometric mean, 20 evaluations a task", geometric_mean(best), "x",
            "at least 1.4", whole and geometric_mean(best) >= 1.4, details),
        row("against eager: mean", mean, "x", "at least 3.0", whole and mean >= 3.0, details),
        row("against eager: geometric mean", geometric, "x", "at least 2.2", whole and geometric >= 2.2, details),
        row("against eager: median", median, "x", "at least 1.8", whole and median >= 1.8, details),
        row("tasks slower than their best baseline, beyond the interval", 100.0 * share, "%", "at most 25%", whole and share <= 0.25,
            details | {"slower": [f"level{line['level']}/{line['name']}" for line in slower]}),
    ]


def search_rows(results, proposals, tasks):
    verified = [result for result in results if result["best"] and result["best"]["status"] == "ok"]
    judged, right = sum(proposals.values()), proposals.get("ok", 0)
    replacing = [result for result in verified if (result["replaced_share"] or 0.0) >= 0.5]
    return [
        row("verified programs", len(verified), f"of {tasks}", f"{tasks} of {tasks}", len(verified) == tasks),
        row("distinct, non-empty proposals of the search policy that compile and verify",
            100.0 * right / judged if judged else float("nan"), "%", "at least 90%", judged and right >= 0.9 * judged,
            {"judged": judged, "right": right, "statuses": proposals}),
        row("tasks whose best program replaces at least half of the reference's time by own kernels or rewrites",
            100.0 * len(replacing) / tasks, "%", "at least 60%", len(replacing) >= 0.6 * tasks),
    ]


def proposals_of(shares):
    """Status -> programs, of all shares."""
    totals = collections.Counter()
    for optimized in shares:
        totals.update(json.loads((optimized.parent / "stages.json").read_text())["proposals"])
    return dict(totals)


def commit_of(optimized):
    """At which a share was measured."""
    return (optimized.parent / "commit").read_text().strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--optimized", type=pathlib.Path, nargs="+", required=True)
    parser.add_argument("--tasks", type=int, required=True, help="how many the suite has")
    parser.add_argument("--gpu", required=True)
    parser.add_argument("--commit", required=True)
    parser.add_argument("--output", type=pathlib.Path, default=RESULTS / "writer.json")
    options = parser.parse_args()
    with (options.folder / "results.csv").open(newline="") as file:
        table = list(csv.DictReader(file))
    results = [result for file in options.optimized for result in json.loads(file.read_text())["results"]]
    names = [result["task"] for result in results]
    if len(set(names)) < len(names):
        sys.exit("some tasks are in several shares: keep those of one way to split the suite")
    commits = {"commits of the shares": sorted({commit_of(file) for file in options.optimized})}
    rows = [entry | {"details": entry.get("details", {}) | commits}
            for entry in search_rows(results, proposals_of(options.optimized), options.tasks) + speed_rows(table, options.tasks)]
    write(options.output, "bench/writer.sh suite SUITE.jsonl", options.gpu, options.commit, rows)


if __name__ == "__main__":
    main()
