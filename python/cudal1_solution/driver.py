"""The CUDA driver, called directly: what a solution does to torch.cuda does not reach it."""

from __future__ import annotations

import ctypes
import functools
from typing import Any


class _Location(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("id", ctypes.c_int)]


class _Access(ctypes.Structure):
    _fields_ = [("location", _Location), ("flags", ctypes.c_int)]


_HANDLE_IS_DESCRIPTOR, _DEVICE, _READ_AND_WRITE = 1, 1, 3


class Driver:
    """Needs a current context, torch's, once cuInit was called."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL("libcuda.so.1")

    def call(self, name: str, *arguments: Any) -> None:
        result = getattr(self._library, name)(*arguments)
        if result != 0:
            text = ctypes.c_char_p()
            self._library.cuGetErrorString(result, ctypes.byref(text))
            raise RuntimeError(f"CUDA error: {(text.value or b'unknown').decode()} ({name}: {result})")

    def bound(self, name: str, *arguments: Any) -> Any:
        """A call that is made later, however the names here have changed by then."""
        return functools.partial(Driver.call, self, name, *arguments)

    def map_shared(self, descriptor: int, size: int) -> int:
        handle, address = ctypes.c_uint64(), ctypes.c_uint64()
        self.call("cuMemImportFromShareableHandle", ctypes.byref(handle), ctypes.c_void_p(descriptor), _HANDLE_IS_DESCRIPTOR)
        bytes_ = ctypes.c_size_t(size)
        self.call("cuMemAddressReserve", ctypes.byref(address), bytes_, ctypes.c_size_t(0), ctypes.c_uint64(0), ctypes.c_uint64(0))
        self.call("cuMemMap", address, bytes_, ctypes.c_size_t(0), handle, ctypes.c_uint64(0))
        access = _Access(_Location(_DEVICE, 0), _READ_AND_WRITE)
        self.call("cuMemSetAccess", address, bytes_, ctypes.byref(access), ctypes.c_size_t(1))
        return int(address.value)

    def event(self) -> ctypes.c_void_p:
        made = ctypes.c_void_p()
        self.call("cuEventCreate", ctypes.byref(made), ctypes.c_uint(0))
        return made

    def milliseconds_between(self, start: ctypes.c_void_p, end: ctypes.c_void_p) -> float:
        elapsed = ctypes.c_float()
        name = "cuEventElapsedTime_v2" if hasattr(self._library, "cuEventElapsedTime_v2") else "cuEventElapsedTime"
        self.call(name, ctypes.byref(elapsed), start, end)
        return float(elapsed.value)
