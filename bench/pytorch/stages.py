"""Where the time of a bench went, from the log.txt that it keeps: lines `NOW s  STAGE  SECONDS s  TASK  DETAILS`."""

from __future__ import annotations

import pathlib
import re

LINE = re.compile(r"\s*(?P<now>[\d.]+) s  (?P<stage>\w+)\s+(?P<seconds>[\d.]+) s  ")
ALONE = "measured"  #: the one stage in which nothing else happens


def intervals_of(log):
    """(begin, end) in seconds of the run, by stage."""
    found = {}
    for line in map(LINE.match, log.splitlines()):
        if line:
            now = float(line["now"])
            found.setdefault(line["stage"], []).append((max(0.0, now - float(line["seconds"])), now))
    return found


def covered_seconds(intervals):
    """Of the run in which at least one of them was under way."""
    total, reached = 0.0, 0.0
    for begin, end in sorted(intervals):
        total += max(0.0, end - max(begin, reached))
        reached = max(reached, end)
    return total


def stages(logs):
    """Seconds by stage, added up over shares. `waiting`: from the first to the last measurement, without measuring."""
    result = {}
    for log in logs:
        intervals = intervals_of(log)
        for stage, of_stage in intervals.items():
            summary = result.setdefault(stage, {"covers": 0.0, "all tasks": 0.0, "longest": 0.0})
            lengths = [end - begin for begin, end in of_stage]
            summary["covers"] += covered_seconds(of_stage)
            summary["all tasks"] += sum(lengths)
            summary["longest"] = max(summary["longest"], *lengths)
        if alone := intervals.get(ALONE):
            span = max(end for _, end in alone) - min(begin for begin, _ in alone)
            result["waiting"] = result.get("waiting", 0.0) + span - covered_seconds(alone)
    return result


def stages_of_folders(folders):
    logs = (pathlib.Path(folder) / "log.txt" for folder in folders)
    return stages(log.read_text() for log in logs if log.exists())
