"""Compiling for PyTorch's cache alone, while others use the GPU."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Iterator
from typing import Any

SAME_FOR_ALL_MS = 1.0


@contextlib.contextmanager
def kernels_untried() -> Iterator[None]:
    """PyTorch's compiler makes several versions of a kernel, tries them on the GPU, and notes which was fastest.

    In here it makes them all and tries none: that would take most of the GPU, and the choice would be a bad one beside
    others' work. Nor is it noted, so that whoever finds the versions in the cache chooses by itself."""
    try:
        tuner = importlib.import_module("torch._inductor.runtime.triton_heuristics").CachingAutotuner
        notes = importlib.import_module("torch._inductor.runtime.autotune_cache").AutotuneCache
    except (ImportError, AttributeError):  # another release: it tries them, beside others
        yield
        return
    with _replaced(tuner, "bench", lambda *_, **__: SAME_FOR_ALL_MS), _replaced(notes, "save", lambda *_, **__: None):
        yield


@contextlib.contextmanager
def _replaced(owner: type, name: str, value: Any) -> Iterator[None]:
    before = getattr(owner, name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, before)
