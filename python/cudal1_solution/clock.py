"""How long a call takes, as seen in here. The judge holds its own clock against it."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable
from typing import Any

from .driver import Driver

_now = time.perf_counter_ns
_DEFAULT_STREAM = ctypes.c_void_p(0)


class HostClock:
    """A device without streams: a call is over when it returns."""

    def synchronize(self) -> None:
        pass

    def time(self, call: Callable[[], Any]) -> tuple[Any, dict[str, float]]:
        begin = _now()
        result = call()
        elapsed = 1e-6 * (_now() - begin)
        return result, {"device_ms": elapsed, "joined_ms": elapsed}


class CudaClock:
    """Events of the driver on the default stream of an idle device. `joined_ms` ends when all streams are done."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._start, self._end, self._joined = (driver.event() for _ in range(3))
        word = ctypes.c_uint64()
        driver.call("cuMemAlloc_v2", ctypes.byref(word), ctypes.c_size_t(4))
        self.synchronize = driver.bound("cuCtxSynchronize")
        self._wake = driver.bound("cuMemsetD8Async", word, ctypes.c_ubyte(0), ctypes.c_size_t(4), _DEFAULT_STREAM)
        self._record = [driver.bound("cuEventRecord", event, _DEFAULT_STREAM) for event in (self._start, self._end, self._joined)]

    def time(self, call: Callable[[], Any]) -> tuple[Any, dict[str, float]]:
        record_start, record_end, record_joined = self._record
        self._wake()  # the first launch after a pause is slower
        self.synchronize()
        record_start()
        result = call()
        record_end()
        self.synchronize()
        record_joined()
        self.synchronize()
        between = self._driver.milliseconds_between
        return result, {"device_ms": between(self._start, self._end), "joined_ms": between(self._start, self._joined)}
