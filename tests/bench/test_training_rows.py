"""Rows of bench/results/training.json, on numbers worked by hand, and the script that makes them with stand-ins for its
programs."""

import json
import math
import os
import pathlib
import sqlite3
import subprocess
import sys
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench" / "training"))
import resume  # noqa: E402
import rows  # noqa: E402
import suite_row  # noqa: E402


def sample(kind, plan="", speedup=0.0):
    return {"kind": kind, "plan": plan, "speedup": speedup, "reward": 0.0, "low": 0.0, "high": 0.0}


def trial(*tasks):
    return [{"task": f"hash {i}", "name": f"task {i}", "best_speedup": 0.0, "rounds": rounds} for i, rounds in enumerate(tasks)]


def write_lines(file, lines):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))


def by_name(made):
    return {row["what"]: row for row in made}


def test_success_is_the_mean_over_tasks_of_samples_that_count(tmp_path):
    first = [sample("success", "a"), sample("success", "b"), sample("failure"), sample("uncounted", "c")]
    second = [sample("idle", "e"), sample("success", "a"), sample("success", "a"), sample("success", "a")]
    lost = [sample("uncounted")] * 4
    write_lines(tmp_path / "supervised.directives.jsonl", trial([first], [second], [lost]))
    made = by_name(rows.first_sample_rows(tmp_path))
    success = made["success at the first sample: stage 1"]
    assert success["value"] == pytest.approx(100 * (2 / 3 + 3 / 4) / 2) and not success["holds"]
    assert success["details"]["tasks"] == 2 and success["details"]["left out, as no sample counts"] == 1
    low, high = success["details"]["95% interval"]
    assert (low, high) == pytest.approx((100 * 2 / 3, 75.0))
    assert made["distinct plans in 4 samples of a task: stage 1"]["value"] == pytest.approx(2.5)


def test_stages_and_forms_have_rows_and_bars_of_their_own(tmp_path):
    right = [[sample("success", plan) for plan in "abcdefgh"]]
    poor = [[sample("success", "a")] * 7 + [sample("failure")]]
    for name, task in {"base.directives": poor, "self_supervised.directives": right, "self_supervised.written_out": poor}.items():
        write_lines(tmp_path / f"{name}.jsonl", trial(task))
    made = by_name(rows.first_sample_rows(tmp_path))
    assert made["success at the first sample: base"]["holds"], "it is recorded"
    assert made["success at the first sample: stage 2"]["holds"]
    assert not made["success at the first sample: stage 2, written-out CUDA"]["holds"]
    assert not made["distinct plans in 8 samples of a task: stage 2, written-out CUDA"]["holds"], "there is but one"
    assert "success at the first sample: stage 1" not in made


def ablation(seeds, low):
    figure = {"mean": 0.2, "low": low, "high": 0.4, "share_above_zero": 1.0, "by_seed": [0.1, 0.2, 0.3][:seeds]}
    pairs = [("bucket", "self_supervised"), ("bucket", "plain"), ("bucket", "shuffled"), ("bucket", "evolution")]
    return {"seeds": list(range(1, seeds + 1)), "tasks": 12, "rounds": 4, "samples": 4,
            "arms": [{"arm": "plain", "stopped": ["", "entropy"]}, {"arm": "bucket", "stopped": [""]}],
            "differences": [{"first": a, "second": b, "figures": {"reward": figure}} for a, b in pairs]}


def test_an_arm_is_better_where_its_interval_lies_above_zero_and_there_are_three_seeds():
    assert [row["holds"] for row in rows.ablation_rows(ablation(3, 0.01))] == [True, True, True]
    assert [row["holds"] for row in rows.ablation_rows(ablation(2, 0.01))] == [True, False, False]
    assert [row["holds"] for row in rows.ablation_rows(ablation(3, 0.0))] == [False, False, False]
    details = rows.ablation_rows(ablation(3, 0.01))[1]["details"]
    assert details["of each seed"] == [0.1, 0.2, 0.3]
    assert details["training that ended early"] == {"plain": ["", "entropy"]}


def test_an_arm_that_was_left_out_has_no_row():
    some = ablation(3, 0.01)
    some["differences"] = some["differences"][:1]
    assert len(rows.ablation_rows(some)) == 1


def test_the_share_of_the_gap_is_of_all_gaps_together(tmp_path):
    searches = [{"task": "hash 0", "name": "0", "speedups": [0.0, 1.0] + [0.5] * 6 + [4.0]},
                {"task": "hash 1", "name": "1", "speedups": [2.0] + [0.0] * 8 + [2.1]},  # too narrow
                {"task": "hash 2", "name": "2", "speedups": [1.5] * 8 + [3.0, 1.0]},
                {"task": "hash 3", "name": "3", "speedups": [1.5] * 8 + [9.0, 1.0]}]  # the model was not asked
    tried = trial([[sample("success", "a", 2.0), sample("failure", "b", 0.0)]], [[sample("success", "a", 9.0)]],
                  [[sample("success", "a", 0.7), sample("idle", "", 0.0)]])
    write_lines(tmp_path / "search.jsonl", searches)
    write_lines(tmp_path / "fresh" / "trained.directives.jsonl", tried)
    row, = rows.gap_rows(tmp_path)
    closed = math.log(2) + (math.log(1) - math.log(1.5))  # a slower program than the reference counts as the reference
    assert row["value"] == pytest.approx(100 * closed / (math.log(4) + math.log(2)))
    figures = row["details"]["share, all gaps together"]
    assert figures["tasks with such a gap"] == 2 and figures["of"] == 3 and not row["holds"]


def test_no_task_with_a_gap_is_no_row(tmp_path):
    write_lines(tmp_path / "search.jsonl", [{"task": "hash 0", "name": "0", "speedups": [2.0]}])
    write_lines(tmp_path / "fresh" / "trained.directives.jsonl", trial([[sample("success", "a", 9.0)]]))
    assert rows.gap_rows(tmp_path) == []


def test_the_rate_says_where_the_time_goes(tmp_path):
    with sqlite3.connect(tmp_path / "archive.sqlite") as archive:
        archive.execute("CREATE TABLE tasks (hash TEXT, name TEXT)")
        archive.execute("CREATE TABLE evaluations (id INTEGER, task_hash TEXT, program_hash TEXT, status TEXT, mode TEXT, json TEXT)")
        archive.execute("INSERT INTO tasks VALUES ('t', 'task')")
        evaluation = json.dumps({"details": {"seconds": 0.5, "stage_seconds": {"measure": 0.2, "compile": 0.1}}})
        archive.execute("INSERT INTO evaluations VALUES (1, 't', 'p', 'ok', 'fast', ?)", [evaluation])
    measured = {"device": "NVIDIA H200", "predicted": False, "tasks": 2, "evaluations": 900, "known": 60, "right": 800,
                "seconds": 120.0, "judging processes": 6, "compilers of each": 2}
    row, = rows.rate_rows(measured, tmp_path / "archive.sqlite")
    assert row["value"] == pytest.approx(420.0) and row["holds"]
    assert row["details"]["seconds of an evaluation by stage"] == pytest.approx({"measure": 0.2, "compile": 0.1, "other": 0.2})
    assert not rows.rate_rows(measured | {"predicted": True}, tmp_path / "archive.sqlite")[0]["holds"]


def test_idle_time_is_weighed_by_how_long_steps_took():
    steps = [{"stage": "contrastive", "gpu_idle_share": "0.1", "gpu_unlocked_share": "0.05", "wall_s": "30", "writing_s": "9"},
             {"stage": "contrastive", "gpu_idle_share": "0.4", "gpu_unlocked_share": "0.2", "wall_s": "10", "writing_s": ""},
             {"stage": "contrastive", "gpu_idle_share": "", "gpu_unlocked_share": "", "wall_s": "", "writing_s": "5"},
             {"stage": "supervised", "gpu_idle_share": "0.9", "gpu_unlocked_share": "0.9", "wall_s": "99"}]
    row, = rows.idle_rows(steps)
    assert row["value"] == pytest.approx(17.5) and not row["holds"]
    assert row["details"]["steps"] == 2 and row["details"]["seconds of"]["writing"] == 9.0
    assert rows.idle_rows(steps[2:]) == []


def write_table(file, lines):
    file.write_text("level,name,status,speedup_best,degenerate\n" + "".join(",".join(map(str, line)) + "\n" for line in lines))
    return file


def test_a_suite_holds_when_it_is_whole_and_beats_the_search_alone(tmp_path):
    ours = write_table(tmp_path / "ours.csv", [(1, "a", "ok", 2.0, 0), (1, "b", "ok", 2.0, 0), (2, "c", "wrong_result", "", 0)])
    alone = write_table(tmp_path / "alone.csv", [(1, "a", "ok", 1.0, 0), (1, "b", "ok", 3.0, 0), (2, "d", "ok", 50.0, 1)])
    speeds, other = suite_row.speeds_in(ours), suite_row.speeds_in(alone)
    row = suite_row.suite_row(speeds, 3, 3, other, {})
    assert row["value"] == pytest.approx(2.0) and row["holds"] and "1.732" in row["bar"]
    assert row["details"]["gained, with and without the model"] == {"level1/a": [2.0, 1.0]}
    assert row["details"]["lost"] == {"level1/b": [2.0, 3.0]}
    assert not suite_row.suite_row(speeds, 3, 4, other, {})["holds"], "not all of it is measured"
    assert not suite_row.suite_row(speeds, 3, 3, {}, {})["holds"], "there is nothing to compare with"


def test_runs_that_differ_in_a_number_or_a_step_are_not_the_same():
    alone = {("s", "0"): {"loss": "1.0", "reward": ""}, ("s", "1"): {"loss": "2.0", "reward": "0.5"}}
    assert resume.largest_difference(alone, alone) == 0.0
    other = {("s", "0"): {"loss": "1.0", "reward": ""}, ("s", "1"): {"loss": "2.0", "reward": "0.25"}}
    assert resume.largest_difference(alone, other) == 0.25
    assert resume.largest_difference(alone, {("s", "0"): alone["s", "0"]}) == math.inf
    assert resume.largest_difference(alone, other | {("s", "0"): {"loss": "", "reward": ""}}) == math.inf
    assert resume.largest_difference({}, {}) == math.inf


needs_setup = pytest.mark.skipif(not (ROOT / ".setup" / "environment.sh").exists(), reason="nothing is set up here")
PATIENT = """#!/usr/bin/env bash
trap 'exit 3' INT
for ((i = 0; i < 600; ++i)); do sleep 0.1; done
"""


def script(tmp_path, program, *arguments):
    programs = tmp_path / "build" / "bin"
    programs.mkdir(parents=True, exist_ok=True)
    for name in ("training_bench", "cudal1"):
        (programs / name).write_text(program)
        (programs / name).chmod(0o755)
    (tmp_path / "model.gguf").touch()
    environment = {**os.environ, "CUDAL1_BENCH_BUILD": str(tmp_path / "build"), "CUDAL1_PYTHON": sys.executable,
                   "CUDAL1_RECORDS": str(tmp_path / "records")}
    return subprocess.run([ROOT / "bench" / "training.sh", "--model", "model.gguf", "--output", tmp_path / "rows.json", *arguments],
                          capture_output=True, text=True, check=False, cwd=tmp_path, timeout=120, env=environment)


@needs_setup
def test_a_piece_ends_in_good_order_when_its_minutes_are_over(tmp_path):
    begin = time.monotonic()
    done = script(tmp_path, PATIENT, "--minutes", "0.05", "rate", "train")
    assert time.monotonic() - begin < 30
    assert done.returncode == 3 and done.stderr.count("the same command goes on") == 1, done.stderr
    assert not (tmp_path / "rows.json").exists()


@needs_setup
def test_what_is_missing_or_not_known_is_named(tmp_path):
    done = script(tmp_path, PATIENT, "gap")
    assert done.returncode == 1 and "run/adapter" in done.stderr
    assert script(tmp_path, PATIENT, "gapp").returncode == 2
    assert script(tmp_path, PATIENT, "--minutes", "soon", "rate").returncode == 2
    assert script(tmp_path, PATIENT).returncode == 2
