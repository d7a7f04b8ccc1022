"""A thread for work whose traces in PyTorch must not meet those of other work."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import torch

Result = TypeVar("Result")


class OwnThread:
    """One thread for all that is run here, on the caller's device and stream; it begins with the first."""

    def __init__(self) -> None:
        self._executor = ThreadPoolExecutor(max_workers=1)

    def run(self, work: Callable[[], Result]) -> Result:
        """The caller waits. What `work` raises is raised here."""
        stream = torch.cuda.current_stream() if torch.cuda.is_initialized() else None

        def run_as_the_caller() -> Result:
            with torch.cuda.stream(stream) if stream else contextlib.nullcontext():  # and so on its device
                return work()

        return self._executor.submit(run_as_the_caller).result()
