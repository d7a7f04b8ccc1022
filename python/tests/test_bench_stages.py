"""bench/pytorch/stages.py: where the time of a bench went."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "bench" / "pytorch" / "stages.py"
_spec = importlib.util.spec_from_file_location("stages", SCRIPT)
assert _spec and _spec.loader
stages = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(stages)

LOG = """\
    4.0 s  exported    4.0 s  level1/1_First  judge 1.0 GiB, worker 2.0 GiB
    6.0 s  exported    3.0 s  level1/2_Second  judge 1.0 GiB, worker 2.0 GiB
   16.0 s  judged     10.0 s  level1/1_First  reference 3.1, program 0.9
   30.0 s  measured    2.0 s  level1/1_First
   45.0 s  measured    5.0 s  level1/2_Second
a line of something else
"""


def test_stages_cover_the_time_in_which_one_of_their_tasks_was_under_way() -> None:
    found = stages.stages([LOG])
    assert found["exported"] == {"covers": pytest.approx(6.0), "all tasks": pytest.approx(7.0), "longest": pytest.approx(4.0)}
    assert found["judged"]["covers"] == pytest.approx(10.0)


def test_waiting_is_what_lies_between_measurements() -> None:
    assert stages.stages([LOG])["waiting"] == pytest.approx(17.0 - 7.0)


def test_shares_add_up_and_those_without_a_log_are_left_out(tmp_path: Path) -> None:
    for name in ("first", "second", "without"):
        (tmp_path / name).mkdir()
    for name in ("first", "second"):
        (tmp_path / name / "log.txt").write_text(LOG)
    found = stages.stages_of_folders([tmp_path / name for name in ("first", "second", "without")])
    assert found["exported"]["covers"] == pytest.approx(12.0)
    assert found["exported"]["longest"] == pytest.approx(4.0)
    assert found["waiting"] == pytest.approx(20.0)
