#!/usr/bin/env python3
"""Rows of bench/results/pytorch.json about `cudal1 bench`, from what it wrote:
    rows.py BENCH_FOLDER --seconds WALL --shares FOLDER… --gpu NAME --commit HASH [--output FILE]"""

from __future__ import annotations

import argparse
import csv
import json
import pathlib
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "python"))
from result_rows import RESULTS, row, write  # noqa: E402
from stages import stages_of_folders  # noqa: E402


def suite_time(seconds, tasks, measured, where):
    """What did not settle was measured too, three times."""
    unsettled = [f"level{line['level']}/{line['name']}" for line in measured if line["status"] == "unstable"]
    return row("whole dev suite: 4 baselines + one program a task, 16 cores", seconds / 60.0, "minutes",
               "at most 8 minutes", seconds <= 480.0 and len(measured) == tasks,
               {"tasks": tasks, "measured": len(measured), "times that did not settle": unsettled, "seconds": seconds,
                "seconds by stage": where})


def empty_program(tasks):
    """`below`: 99.9% intervals of the program against eager, as the bench computed them."""
    judged = [task for task in tasks if task["eager_low"] is not None]
    below = [task for task in judged if task["eager_high"] < 0.99]
    return row("an exported empty program (all library ops) against eager: tasks whose 99.9% interval lies wholly below 0.99",
               len(below), f"of {len(judged)}", "no task whose 99.9% interval lies wholly below 0.99",
               not below and judged,
               {"median": statistics.median(task["eager"] for task in judged) if judged else None, "below": below[:20]})


def distance(tasks, ours):
    """In percent, at the median."""
    return 100.0 * statistics.median(abs(task[ours] / task["plain_ms"] - 1.0) for task in tasks)


def plain_loop(plain):
    """Both were called by turns; the table's own times are minutes older, of a machine whose processors others use."""
    ratios = [task["ours_ms"] / task["plain_ms"] for task in plain]
    value = distance(plain, "ours_ms")
    return row("our eager times against a plain PyTorch timing loop written separately in the bench", value, "%",
               "within 3% at the median over tasks above 50 us", value <= 3.0,
               {"tasks": len(plain), "median ratio": statistics.median(ratios),
                "largest distance": 100.0 * max(abs(ratio - 1.0) for ratio in ratios),
                "the table's times, minutes before": distance(plain, "bench_ms")})


def number(text):
    return float(text) if text else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--shares", type=pathlib.Path, nargs="+", required=True,
                        help="what was measured by itself: log.txt, and plain.json where eager was compared")
    parser.add_argument("--tasks", type=int, required=True, help="how many the suite has")
    parser.add_argument("--gpu", required=True)
    parser.add_argument("--commit", required=True)
    parser.add_argument("--output", type=pathlib.Path, default=RESULTS / "pytorch.json")
    options = parser.parse_args()
    with (options.folder / "results.csv").open(newline="") as file:
        table = list(csv.DictReader(file))
    measured = [line for line in table if line["status"] in ("ok", "unstable") and line["program_ms"]]
    tasks = [{"level": line["level"], "id": line["id"], "eager": number(line["speedup_eager"]),
              "eager_low": number(line["cautious_low_eager"]), "eager_high": number(line["cautious_high_eager"])}
             for line in measured if line["speedup_eager"]]
    rows = [suite_time(options.seconds, options.tasks, measured, stages_of_folders(options.shares)), empty_program(tasks)]
    compared = (share / "plain.json" for share in options.shares)
    plain = [task for file in compared if file.exists() for task in json.loads(file.read_text())["tasks"]]
    if plain:
        rows.append(plain_loop(plain))
    write(options.output, "bench/pytorch.sh SUITE.jsonl", options.gpu, options.commit, rows)


if __name__ == "__main__":
    main()
