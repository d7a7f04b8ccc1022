#!/usr/bin/env python3
"""What searches came to and what their time was spent on, from the archive that they keep, also of one that was cut
off:

    search_stages.py ARCHIVE.sqlite…"""

from __future__ import annotations

import argparse
import contextlib
import json
import pathlib
import sqlite3
import statistics

QUERY = "SELECT tasks.name, evaluations.json FROM evaluations JOIN tasks ON tasks.hash = evaluations.task_hash"
# What was judged again, as a result, is no proposal. A program that is on record twice counts as it was found first.
PROPOSALS = ("SELECT status, COUNT(*) FROM (SELECT MIN(id), status FROM evaluations WHERE mode = 'fast' "
             "GROUP BY task_hash, program_hash) GROUP BY status")


def rows_of(archive, query):
    with contextlib.closing(sqlite3.connect(f"file:{archive}?mode=ro", uri=True)) as connection:
        return connection.execute(query).fetchall()


def evaluations_in(archive):
    """(task, details of an evaluation)."""
    return [(task, json.loads(text)["details"]) for task, text in rows_of(archive, QUERY)]


def proposals_in(archives):
    """Status -> how many different programs were first found to be that."""
    totals = {}
    for archive in archives:
        for status, count in rows_of(archive, PROPOSALS):
            totals[status] = totals.get(status, 0) + count
    return totals


def by_stage(evaluations):
    """Seconds of an evaluation at the mean; `other`: what no stage accounts for."""
    totals = {}
    for _, evaluation in evaluations:
        stages = evaluation.get("stage_seconds") or {}
        for stage, seconds in stages.items():
            totals[stage] = totals.get(stage, 0.0) + seconds
        totals["other"] = totals.get("other", 0.0) + evaluation["seconds"] - sum(stages.values())
    return {stage: total / len(evaluations) for stage, total in sorted(totals.items(), key=lambda item: -item[1])}


def by_task(evaluations):
    """Seconds of all evaluations together."""
    totals = {}
    for task, evaluation in evaluations:
        totals[task] = totals.get(task, 0.0) + evaluation["seconds"]
    return dict(sorted(totals.items(), key=lambda item: -item[1]))


def summary(archives):
    evaluations = [entry for archive in archives for entry in evaluations_in(archive)]
    if not evaluations:
        return {"evaluations": 0}
    seconds = [evaluation["seconds"] for _, evaluation in evaluations]
    return {"evaluations": len(evaluations), "proposals": proposals_in(archives), "seconds, mean": statistics.fmean(seconds),
            "seconds, median": statistics.median(seconds), "seconds by stage": by_stage(evaluations),
            "longest tasks": dict(list(by_task(evaluations).items())[:8])}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("archives", type=pathlib.Path, nargs="+")
    print(json.dumps(summary(parser.parse_args().archives), indent=1))


if __name__ == "__main__":
    main()
