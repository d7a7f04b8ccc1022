"""bench/pytorch/beside_plain.py, with a clock of the processor in place of a GPU's events."""

from __future__ import annotations

import importlib
import json
import pathlib
import sys
import time
from collections.abc import Iterator
from types import ModuleType

import pytest
import torch

TASK = """
import time, torch, torch.nn as nn
class Model(nn.Module):
    def forward(self, x):
        time.sleep(0.004)
        return x + 1
def get_inputs(): return [torch.rand(8)]
def get_init_inputs(): return []
"""


class Event:
    def __init__(self, enable_timing: bool) -> None:
        assert enable_timing
        self.at = 0.0

    def record(self) -> None:
        self.at = time.perf_counter()

    def elapsed_time(self, end: Event) -> float:
        return 1e3 * (end.at - self.at)


@pytest.fixture
def beside_plain(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    monkeypatch.setattr(torch.cuda, "Event", Event)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
    monkeypatch.setattr(sys, "path", [str(pathlib.Path(__file__).parents[2] / "bench/pytorch"), *sys.path])
    module = importlib.import_module("beside_plain")
    monkeypatch.setattr(sys.modules["plain_timing"], "CACHE_BYTES", 64)
    yield module
    for name in ("beside_plain", "plain_timing"):
        del sys.modules[name]


def test_both_loops_see_the_same_module(beside_plain: ModuleType) -> None:
    medians = beside_plain.medians_by_turns(TASK, 0.0, torch.device("cpu"))
    assert medians["calls"] == beside_plain.FEWEST_TURNS * beside_plain.CALLS_A_TURN
    for name in ("ours_ms", "plain_ms"):
        assert 4.0 <= medians[name] < 40.0


def test_takes_what_a_bench_has_measured(beside_plain: ModuleType, tmp_path: pathlib.Path) -> None:
    row = {"suite": "a", "level": 1, "name": "one", "predicted": False, "ways": [{"way": "eager", "device_ms": [3.0, 1.0, 2.0]}]}
    not_timed = row | {"name": "two", "ways": [{"way": "eager", "why_not": "no"}]}
    lines = [json.dumps(line) for line in (row, not_timed, row | {"name": "three", "predicted": True})]
    (tmp_path / "results.jsonl").write_text("\n".join(lines))
    assert beside_plain.tasks_of(tmp_path / "results.jsonl") == {("a", 1, "one"): 2.0}
