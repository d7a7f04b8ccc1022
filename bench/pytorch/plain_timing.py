"""A plain PyTorch timing loop, as anybody would write it: nothing of ours is imported.

Load the module, call it in eager mode with events around each call, the device's cache written over in between."""

from __future__ import annotations

import statistics
import time

import torch

CACHE_BYTES = 512 << 20
WARM_UP_CALLS = 5


class PlainLoop:
    def __init__(self, code: str, device: torch.device) -> None:
        module: dict = {"__name__": "module"}
        exec(compile(code, "module", "exec"), module)
        torch.manual_seed(0)
        with torch.device(device):
            arguments = module["get_init_inputs"]() if "get_init_inputs" in module else []
            model = module["Model"](**arguments) if isinstance(arguments, dict) else module["Model"](*arguments)
            inputs = module["get_inputs"]()
        model.to(device)
        self._call = (lambda: model(**inputs)) if isinstance(inputs, dict) else (lambda: model(*inputs))
        self._cache = torch.empty(CACHE_BYTES, dtype=torch.uint8, device=device)
        self._start, self._end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        with torch.no_grad():
            for _ in range(WARM_UP_CALLS):
                self._call()

    def times_ms(self, calls: int) -> list[float]:
        times: list[float] = []
        with torch.no_grad():
            for i in range(calls):
                self._cache.fill_(i % 256)  # inputs come from memory
                torch.cuda.synchronize()
                self._start.record()
                self._call()
                self._end.record()
                torch.cuda.synchronize()
                times.append(self._start.elapsed_time(self._end))
        return times


def median_ms(code: str, seconds: float, device: torch.device) -> tuple[float, int]:
    loop = PlainLoop(code, device)
    limit = time.perf_counter() + seconds
    times = loop.times_ms(20)
    while time.perf_counter() < limit and len(times) < 200:
        times += loop.times_ms(1)
    return statistics.median(times), len(times)
