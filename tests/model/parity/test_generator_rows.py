"""What bench/generator.sh keeps: rows of machines with and without a GPU in one file, each with its own commit."""

import pathlib
import sys

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
