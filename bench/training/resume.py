#!/usr/bin/env python3
"""A run that is killed again and again, at random moments of each stage, and gone on with, beside one that was left alone:

    resume.py --cudal1 PROGRAM --model FILE --config FILE --work FOLDER --rows FILE [--seed N]"""

from __future__ import annotations

import argparse
import csv
import filecmp
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "python"))
from result_rows import row  # noqa: E402

COMPARED = ("loss", "reward")
STAGES = ("data", "supervised", "supervised", "self_supervised", "contrastive", "contrastive")  # a kill in each
LONGEST_S = 900.0


def steps_of(run):
    """(stage, step) -> row."""
    file = run / "metrics.csv"
    if not file.exists():
        return {}
    with file.open(newline="") as table:
        return {(line["stage"], line["step"]): line for line in csv.DictReader(table)}


def has_a_step_twice(run):
    with (run / "metrics.csv").open(newline="") as table:
        return sum(1 for _ in csv.DictReader(table)) > len(steps_of(run))


def steps_in(run, stage):
    """Data has one: judging has begun."""
    if stage == "data":
        return int((run / "archive.sqlite").exists())
    return sum(name == stage for name, _ in steps_of(run))


def stage_of(run):
    """That a run was in when it ended."""
    return ([stage for stage, _ in steps_of(run)] or ["data"])[-1]


class Run:
    """One of the two. Whatever ends this program ends the command that it has started."""

    def __init__(self, options, name):
        self.folder = options.work / name
        self.log = options.work / f"{name}.log"
        self.command = [options.cudal1, "train", options.config, "-o", self.folder, "--set", f"model.path={options.model}", "--json"]

    def start(self):
        with self.log.open("a") as log:
            return subprocess.Popen(self.command, stdout=log, stderr=log, start_new_session=True,
                                    env={**os.environ, "OMP_NUM_THREADS": "1"})  # beside others, threads wait for each other

    def finish(self):
        process = self.start()
        try:
            code = process.wait(LONGEST_S)
        finally:
            end(process)
        if code != 0:
            sys.exit(f"{self.folder}: ended with {code}: {self.log.read_text()[-500:]}")

    def kill_in(self, stage, draw):
        """After some further step of this stage and a moment. Returns the stage that it was in; None: it was faster."""
        process, before = self.start(), steps_in(self.folder, stage)
        further, delay = (1, draw.uniform(0.0, 2.0)) if stage == "data" else (draw.randrange(1, 3), draw.uniform(0.0, 0.3))
        try:
            while process.poll() is None and steps_in(self.folder, stage) < before + further:
                time.sleep(0.02)
            time.sleep(delay)
            return stage_of(self.folder) if process.poll() is None else None
        finally:
            end(process)


def end(process):
    """With the judges that it started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def largest_difference(alone, killed):
    """Over all steps; infinite where one of them lacks a step or a number."""
    if alone.keys() != killed.keys() or not alone:
        return float("inf")
    largest = 0.0
    for step, line in alone.items():
        for name in COMPARED:
            ours, theirs = line.get(name), killed[step].get(name)
            if bool(ours) != bool(theirs):
                return float("inf")
            if ours:
                largest = max(largest, abs(float(ours) - float(theirs)))
    return largest


def measured(options):
    draw, alone, killed = random.Random(options.seed), Run(options, "alone"), Run(options, "killed")
    alone.finish()
    kills = [stage for stage in (killed.kill_in(stage, draw) for stage in STAGES) if stage]
    killed.finish()
    steps = steps_of(alone.folder)
    largest = float("inf") if has_a_step_twice(killed.folder) else largest_difference(steps, steps_of(killed.folder))
    weights = "adapter/adapter_model.safetensors"
    trained = sum(float(line.get("groups_trained") or 0.0) > 0.0 for line in steps.values())
    details = {"killed in": kills, "steps": len(steps), "stages": sorted({stage for stage, _ in steps}),
               "steps of stage 3 that changed the weights": trained,
               "adapters are the same bytes": filecmp.cmp(alone.folder / weights, killed.folder / weights, shallow=False)}
    return row("a run killed and resumed against one left alone (virtual GPU, fixed seed, synchronous mode)", largest,
               "largest difference of a loss or reward", "the same losses to 1e-5", largest <= 1e-5 and len(set(kills)) >= 3, details)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("cudal1", "model", "config", "work", "rows"):
        parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that nothing of ours is left behind
    shutil.rmtree(options.work, ignore_errors=True)
    options.work.mkdir(parents=True)
    options.rows.write_text(json.dumps([measured(options)]) + "\n")


if __name__ == "__main__":
    main()
