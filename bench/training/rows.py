#!/usr/bin/env python3
"""Rows of bench/results/training.json from what bench/training.sh measured; written to --rows, as keep_rows.py reads them, if there
are some:

    rows.py first_samples FOLDER | ablation ablation.json | gap FOLDER | rate rate.json ARCHIVE | idle metrics.csv"""

from __future__ import annotations

import argparse
import csv
import json
import math
import pathlib
import random
import statistics
import sys

BENCH = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(BENCH / "python"), str(BENCH / "writer")]
from result_rows import row  # noqa: E402
from search_stages import summary  # noqa: E402

RESAMPLES = 10000
LEAST_GAP = 1.1  # of the best of all programs of the search over its first ones
FIRST_OF_SEARCH = 8
SEEDS = 3


def bootstrap(items, statistic, resamples=RESAMPLES):
    """95% interval of a statistic over items, which are drawn anew with putting back."""
    draw = random.Random(1)
    found = sorted(statistic(draw.choices(items, k=len(items))) for _ in range(resamples))
    return [found[math.ceil(0.025 * resamples) - 1], found[math.ceil(0.975 * resamples) - 1]]


def lines_of(file):
    """A line that a kill cut short is as good as none."""
    read = []
    for line in file.read_text().splitlines():
        try:
            read.append(json.loads(line))
        except json.JSONDecodeError:
            continue
    return read


def counted(task):
    """Samples of all rounds, but for those that neither the program nor the model can do anything about."""
    return [sample for samples in task["rounds"] for sample in samples if sample["kind"] != "uncounted"]


def success_share(task):
    samples = counted(task)
    return sum(sample["kind"] == "success" for sample in samples) / len(samples)


def distinct_plans(task):
    return len({sample["plan"] for samples in task["rounds"] for sample in samples} - {""})


def mean_over(tasks, number):
    values = [number(task) for task in tasks]
    return statistics.fmean(values), bootstrap(values, statistics.fmean)


FORMS = {"directives": "", "written_out": ", written-out CUDA"}
STAGES = {"base": ("base", None), "supervised": ("stage 1", 85.0), "self_supervised": ("stage 2", 95.0)}


def first_sample_rows(folder):
    """Of each stage and form that was tried: successes among samples that have seen no program."""
    rows = []
    for form, said in FORMS.items():
        for name, (stage, least) in STAGES.items():
            file = folder / f"{name}.{form}.jsonl"
            if file.exists():
                rows += rows_of_trial(lines_of(file), f"{stage}{said}", least)
    return rows


def rows_of_trial(lines, title, least):
    tasks = [task for task in lines if counted(task)]
    if not tasks:
        return []
    success, interval = mean_over(tasks, success_share)
    plans, plans_interval = mean_over(tasks, distinct_plans)
    samples = len(lines[0]["rounds"][0])
    details = {"tasks": len(tasks), "samples of each": samples, "95% interval": [100.0 * end for end in interval],
               "left out, as no sample counts": len(lines) - len(tasks)}
    rows = [row(f"success at the first sample: {title}", 100.0 * success, "% of samples",
                "measured and recorded" if least is None else f"at least {least:.0f}%", least is None or 100.0 * success >= least,
                details)]
    has_bar = title.startswith("stage 2")
    rows.append(row(f"distinct plans in {samples} samples of a task: {title}", plans, "plans, mean",
                    "at least 4" if has_bar else "measured and recorded", not has_bar or plans >= 4.0,
                    {"tasks": len(tasks), "95% interval": plans_interval}))
    return rows


def difference(ablation, first, second):
    for each in ablation["differences"]:
        if (each["first"], each["second"]) == (first, second):
            return each["figures"]["reward"]
    return None


COMPARISONS = {
    "mean log reward after stage 3 over stage 2": ("bucket", "self_supervised", "higher, 95% interval of the difference above 0", 1),
    "contrastive (bucket) over plain GRPO, mean log reward": ("bucket", "plain", "95% interval above 0, at least three paired seeds",
                                                              SEEDS),
    "contrastive (bucket) with true over shuffled scores, mean log reward": (
        "bucket", "shuffled", "95% interval above 0, at least three paired seeds", SEEDS),
}
BESIDE = ("bucket", "evolution")  # the same prompts, other weights


def ablation_rows(ablation):
    rows = []
    for what, (first, second, bar, seeds) in COMPARISONS.items():
        figure = difference(ablation, first, second)
        if figure is None:
            continue
        details = {"95% interval": [figure["low"], figure["high"]], "of each seed": figure["by_seed"], "seeds": ablation["seeds"],
                   "test tasks": ablation["tasks"], "rounds": ablation["rounds"], "samples": ablation["samples"],
                   "difference": f"{first} - {second}", "training that ended early": stopped_arms(ablation)}
        beside = difference(ablation, *BESIDE)
        if second == "self_supervised" and beside:
            details[" - ".join(BESIDE)] = {"mean": beside["mean"], "95% interval": [beside["low"], beside["high"]]}
        rows.append(row(what, figure["mean"], "nats, later rounds", bar, figure["low"] > 0.0 and len(ablation["seeds"]) >= seeds,
                        details))
    return rows


def stopped_arms(ablation):
    return {arm["arm"]: arm["stopped"] for arm in ablation["arms"] if any(arm["stopped"])}


def best_of(speedups):
    """Whoever finds nothing faster keeps the reference."""
    return max([1.0, *speedups])


def gap_of(searched, tried):
    """Logarithms of what one task came to: 8 of the search, all of it, the model's samples."""
    found = [sample["speedup"] for samples in tried["rounds"] for sample in samples if sample["kind"] in ("success", "copy")]
    first, best = best_of(searched["speedups"][:FIRST_OF_SEARCH]), best_of(searched["speedups"])
    return {"first": math.log(first), "best": math.log(best), "model": math.log(best_of(found))}


def closed_share(gaps):
    """Of all gaps together: a narrow one weighs little."""
    return sum(gap["model"] - gap["first"] for gap in gaps) / sum(gap["best"] - gap["first"] for gap in gaps)


def gap_figures(searches, trial):
    tried = {task["task"]: task for task in trial}
    both = [gap_of(search, tried[search["task"]]) for search in searches if search["task"] in tried]
    wide = [gap for gap in both if gap["best"] - gap["first"] >= math.log(LEAST_GAP)]
    if not wide:
        return None
    return {"share": closed_share(wide), "95% interval": bootstrap(wide, closed_share), "tasks with such a gap": len(wide),
            "of": len(both), "geometric mean of the gap": math.exp(statistics.fmean(gap["best"] - gap["first"] for gap in wide)),
            "tasks where the model beats the best of the search": sum(gap["model"] > gap["best"] for gap in wide)}


def gap_rows(folder):
    searches = lines_of(folder / "search.jsonl")
    fresh = gap_figures(searches, lines_of(folder / "fresh" / "trained.directives.jsonl"))
    if fresh is None:
        print(f"no task where the gap is at least {LEAST_GAP}x: no row", file=sys.stderr)
        return []
    reading_file = folder / "reading" / "trained.directives.jsonl"
    reading = gap_figures(searches, lines_of(reading_file)) if reading_file.exists() else None
    evaluations = max(len(search["speedups"]) for search in searches)
    details = {"share, all gaps together": fresh, "the same where the second four samples read the first four": reading}
    return [row(f"8 samples of the trained model: share of the log gap between 8 of search and the best of {evaluations} of search "
                f"closed (test tasks where it is at least {LEAST_GAP}x)", 100.0 * fresh["share"], "%", "at least half",
                fresh["share"] >= 0.5, details)]


def rate_rows(measured, archive):
    rate = 60.0 * (measured["evaluations"] - measured["known"]) / measured["seconds"]
    stages = summary([archive])
    details = {name: measured[name] for name in ("device", "tasks", "evaluations", "known", "right", "seconds", "judging processes",
                                                 "compilers of each")}
    details |= {"seconds of an evaluation by stage": stages.get("seconds by stage", {}),
                "seconds of an evaluation, median": stages.get("seconds, median")}
    return [row("training-mode evaluations on generated tasks, cold cache", rate, "per minute", "at least 400 a minute",
                rate >= 400.0 and not measured["predicted"], details)]


def total(steps, name):
    return sum(float(step[name]) for step in steps if step.get(name))


def idle_rows(steps):
    """Steps of stage 3 whose GPU was watched, each by the time that it took."""
    watched = [step for step in steps if step["stage"] == "contrastive" and step.get("gpu_idle_share")]
    wall = total(watched, "wall_s")
    if not wall:
        print("no step of stage 3 knows of a GPU: no row", file=sys.stderr)
        return []
    share = {name: sum(float(step[name]) * float(step["wall_s"]) for step in watched) / wall
             for name in ("gpu_idle_share", "gpu_unlocked_share")}
    details = {"steps": len(watched), "seconds": wall,
               "without anybody on the GPU, checking of programs included (%)": 100.0 * share["gpu_unlocked_share"],
               "seconds of": {name: total(watched, f"{name}_s") for name in ("writing", "judging", "learning")}}
    return [row("GPU without generation, gradient or a locked measurement during stage 3", 100.0 * share["gpu_idle_share"],
                "% of the wall time", "at most 15%", share["gpu_idle_share"] <= 0.15, details)]


def made(options):
    file = options.files[0]
    if options.part == "first_samples":
        return first_sample_rows(file)
    if options.part == "gap":
        return gap_rows(file)
    if options.part == "ablation":
        return ablation_rows(json.loads(file.read_text()))
    if options.part == "rate":
        return rate_rows(json.loads(file.read_text()), options.files[1])
    with file.open(newline="") as table:
        return idle_rows(list(csv.DictReader(table)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=["first_samples", "ablation", "gap", "rate", "idle"])
    parser.add_argument("files", type=pathlib.Path, nargs="+")
    parser.add_argument("--rows", type=pathlib.Path, required=True)
    options = parser.parse_args()
    if rows := made(options):
        options.rows.write_text(json.dumps(rows) + "\n")


if __name__ == "__main__":
    main()
