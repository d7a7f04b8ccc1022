"""Starts the device, and whatever the CUDA driver opens when it is first asked for something, before this process gives up
opening it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import torch

from .driver import Driver
from .refusals import refusals, restrictions_in_force

_Made = TypeVar("_Made")


@dataclass
class StartFailure(Exception):
    stage: str
    problem: str

    def __str__(self) -> str:
        refused = ", ".join(refusals()) or "nothing that the driver is known to ask for"
        return f"CUDA does not start: {self.stage}: {self.problem}; refused by the system: {refused} ({restrictions_in_force()})"


def start_device(device: torch.device) -> Driver | None:
    """None for the CPU, which needs no start."""
    if device.type != "cuda":
        return None
    driver = _stage("the driver's library", Driver)
    for stage, action in _stages(driver, device).items():
        _stage(stage, action)
    return driver


def _stages(driver: Driver, device: torch.device) -> dict[str, Callable[[], object]]:
    return {
        "cuInit": lambda: driver.call("cuInit", 0),
        "the context": lambda: (torch.cuda.init(), torch.cuda.set_device(device), torch.empty(1, device=device)),
        "a kernel": lambda: (torch.zeros(8, 8, device=device), torch.cuda.synchronize()),
        "cuBLAS": lambda: (torch.ones(8, 8, device=device) @ torch.ones(8, 8, device=device), torch.cuda.synchronize()),
        "an event": _record_an_event,
        "another stream": lambda: torch.cuda.Stream(device).synchronize(),
    }


def _record_an_event() -> None:
    event = torch.cuda.Event()
    event.record()
    event.synchronize()


def _stage(name: str, action: Callable[[], _Made]) -> _Made:
    try:
        return action()
    except Exception as problem:
        lines = str(problem).strip().splitlines() or [type(problem).__name__]
        raise StartFailure(name, lines[0]) from problem
