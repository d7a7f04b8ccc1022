"""How a process waits for the GPU: by default it spins, which keeps a core busy that others could use."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator

import torch

SCHEDULING = 0x07  #: of a context's flags
BLOCKING = 0x04


@contextlib.contextmanager
def cores_left_to_others(device: torch.device) -> Iterator[None]:
    """In here who waits for the GPU sleeps. Not for timed calls: who slept begins the next call late."""
    driver = _driver() if device.type == "cuda" else None
    before = ctypes.c_uint()
    if driver is None or driver.cuCtxGetFlags(ctypes.byref(before)) != 0:  # no context yet, or an old driver
        yield
        return
    driver.cuCtxSetFlags((before.value & ~SCHEDULING) | BLOCKING)
    try:
        yield
    finally:
        driver.cuCtxSetFlags(before.value)


def _driver() -> ctypes.CDLL | None:
    try:
        driver = ctypes.CDLL("libcuda.so.1")
        return driver if driver.cuCtxSetFlags and driver.cuCtxGetFlags else None  # the former is of CUDA 12.1
    except (OSError, AttributeError):
        return None
