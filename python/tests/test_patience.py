"""patience.py, with a driver of our own in place of the GPU's."""

from __future__ import annotations

import ctypes

import pytest
import torch

from cudal1_bridge import patience


class Driver:
    def __init__(self, flags: int, result: int = 0) -> None:
        self.flags = flags
        self.result = result

    def cuCtxGetFlags(self, place: object) -> int:  # noqa: N802
        place._obj.value = self.flags  # type: ignore[attr-defined]
        return self.result

    def cuCtxSetFlags(self, flags: int) -> int:  # noqa: N802
        self.flags = flags
        return 0


CUDA = torch.device("cuda")


def test_waits_by_sleeping_and_afterwards_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = Driver(flags=0x08 | 0x01)
    monkeypatch.setattr(patience, "_driver", lambda: driver)
    with pytest.raises(ValueError), patience.cores_left_to_others(CUDA):
        assert driver.flags == 0x08 | patience.BLOCKING
        raise ValueError
    assert driver.flags == 0x08 | 0x01


def test_leaves_everything_alone_where_there_is_no_context(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = Driver(flags=0x08, result=201)
    monkeypatch.setattr(patience, "_driver", lambda: driver)
    with patience.cores_left_to_others(CUDA):
        assert driver.flags == 0x08


def test_needs_no_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_library(name: str) -> None:
        raise OSError(name)

    monkeypatch.setattr(ctypes, "CDLL", no_library)
    with patience.cores_left_to_others(CUDA), patience.cores_left_to_others(torch.device("cpu")):
        pass
