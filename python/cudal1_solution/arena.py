"""The judge's memory, mapped here: inputs are read from it and results written to it."""

from __future__ import annotations

import ctypes
import mmap
from typing import Any

import torch

from .driver import Driver

DTYPES = {
    "f32": torch.float32, "f64": torch.float64, "f16": torch.float16, "bf16": torch.bfloat16, "i8": torch.int8,
    "i16": torch.int16, "i32": torch.int32, "i64": torch.int64, "u8": torch.uint8, "bool": torch.bool,
}  # fmt: skip

_storage_at = torch._C._construct_storage_from_data_pointer
_empty = torch.empty
_set = torch.Tensor.set_


class Arena:
    """Tensors on it own nothing and know nothing of each other."""

    def __init__(self, descriptor: int, size: int, device: torch.device, driver: Driver | None) -> None:
        self._device = device
        self.size = size
        if driver:
            self.address = driver.map_shared(descriptor, size)
        else:
            self._mapping = mmap.mmap(descriptor, size)
            self.address = ctypes.addressof(ctypes.c_char.from_buffer(self._mapping))

    def tensor(self, meta: dict[str, Any]) -> torch.Tensor:
        """`meta`: dtype, sizes, strides, and where it lies in bytes."""
        storage = _storage_at(self.address + meta["offset"], self._device, meta["bytes"])
        return _set(_empty(0, dtype=DTYPES[meta["dtype"]], device=self._device), storage, 0, meta["sizes"], meta["strides"])

    def overlaps(self, begin: int, end: int) -> bool:
        return begin < self.address + self.size and self.address < end
