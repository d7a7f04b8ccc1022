"""What bench/generator.sh keeps: rows of machines with and without a GPU in one file, each with its own commit."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "bench" / "generator"))
import keep_rows  # noqa: E402
import untrained_rows  # noqa: E402


def entry(what, value=1.0):
    return {"what": what, "value": value, "unit": "x", "bar": "at least 1", "holds": True}


def test_rows_of_other_machines_stay():
    first = keep_rows.together(None, [entry("logits"), entry("speed", 2.0)], "aaa", "none")
    assert first["gpu"] == "none"
    both = keep_rows.together(first, [entry("generation")], "bbb", "NVIDIA H200")
    assert [(row["what"], row["gpu"], row["commit"]) for row in both["rows"]] == [
        ("logits", "none", "aaa"), ("speed", "none", "aaa"), ("generation", "NVIDIA H200", "bbb")]
    again = keep_rows.together(both, [entry("speed", 3.0)], "ccc", "none")
    assert again["gpu"] == "NVIDIA H200", "some rows have it"
    assert [row["value"] for row in again["rows"] if row["what"] == "speed"] == [3.0]


def samples(statuses):
    counts = [{"status": status, "samples": statuses.count(status)} for status in set(statuses)]
    figures = {"tasks": 2, "answers": len(statuses), "programs": 3, "refusals": 0, "without_program": 1, "not_answered": 0,
               "right": statuses.count("ok"), "pass_at": [{"k": 1, "share": 0.25}], "statuses": counts,
               "fast_p_at": [{"p": 1.0, "k": 1, "share": 0.0}], "prompt_tokens": 800, "new_tokens": 90}
    return {"figures": [figures], "samples": [{"status": status} for status in statuses]}


def test_success_is_the_share_of_right_answers():
    row = untrained_rows.success(samples(["ok", "plan_error", "no_program", "parse_error"]), False)
    assert row["value"] == 0.25 and row["holds"]
    assert row["details"]["shares"]["pass@1"] == 0.25


def test_samples_without_a_verdict_are_no_measurement():
    assert not untrained_rows.success(samples(["ok", "failed"]), True)["holds"]


ROOT = pathlib.Path(__file__).resolve().parents[3]
STAND_IN = """#!/usr/bin/env bash
[[ $* == *"--model $MODEL"* ]] || exit 9
while [[ $1 != --output ]]; do shift; done
echo '{"rows": [{"what": "'"${0##*/}"'", "value": 1, "unit": "x", "bar": "at least 1", "holds": true}]}' >"$2"
"""


def rehearsed(tmp_path, *arguments, broken=()):
    """The script with stand-ins for the GPU and for the programs that need one."""
    (tmp_path / "model.gguf").touch()
    programs = tmp_path / "build" / "bin"
    programs.mkdir(parents=True)
    for name in ("generation_speed", "training_speed", "sampling_parity"):
        (programs / name).write_text("#!/bin/false\n" if name in broken else STAND_IN)
    (programs / "nvidia-smi").write_text("#!/bin/sh\necho NVIDIA H200\n")
    for file in programs.iterdir():
        file.chmod(0o755)
    output = tmp_path / "rows.json"
    done = subprocess.run([ROOT / "bench" / "generator.sh", *arguments, "--output", output], capture_output=True, text=True,
                          check=False, cwd=tmp_path, timeout=60,
                          env={**os.environ, "CUDAL1_BENCH_BUILD": str(tmp_path / "build"), "CUDAL1_PYTHON": sys.executable,
                               "MODEL": str(tmp_path / "model.gguf"), "PATH": f"{programs}:{os.environ['PATH']}"})
    return done, json.loads(output.read_text())["rows"] if output.exists() else []


needs_setup = pytest.mark.skipif(not (ROOT / ".setup" / "environment.sh").exists(), reason="nothing is set up here")


@needs_setup
def test_a_machine_with_a_gpu_and_a_file_needs_no_package_index(tmp_path):
    done, rows = rehearsed(tmp_path, "--model", "model.gguf", "gpu")
    assert done.returncode == 0, done.stderr
    assert [(row["what"], row["gpu"]) for row in rows] == [
        (name, "NVIDIA H200") for name in ("generation_speed", "training_speed", "sampling_parity")]


@needs_setup
def test_what_one_program_found_is_not_lost_with_the_next(tmp_path):
    done, rows = rehearsed(tmp_path, "--model", "model.gguf", "gpu", broken=["training_speed"])
    assert done.returncode == 1 and "training_speed ended with 1" in done.stderr
    assert [row["what"] for row in rows] == ["generation_speed", "sampling_parity"]


@needs_setup
def test_a_part_or_a_model_that_is_not_there_is_named(tmp_path):
    done, _ = rehearsed(tmp_path, "--model", "model.gguf", "speeed")
    assert done.returncode == 2 and "there is no part speeed" in done.stderr
    done = subprocess.run([ROOT / "bench" / "generator.sh", "--model", "absent.gguf", "gpu"], capture_output=True, text=True)
    assert done.returncode == 2 and "absent.gguf" in done.stderr


def test_a_row_that_misses_its_bar_is_kept_and_said(tmp_path):
    (tmp_path / "fresh.json").write_text(json.dumps([entry("speed") | {"holds": False}]))
    command = [sys.executable, ROOT / "bench/generator/keep_rows.py", tmp_path / "fresh.json", "--commit", "a", "--gpu", "none",
               "--output", tmp_path / "kept.json"]
    assert subprocess.run(command, check=False).returncode == 1
    assert not json.loads((tmp_path / "kept.json").read_text())["rows"][0]["holds"]
