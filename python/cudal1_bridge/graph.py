"""The parts of graph.json (docs/task.md) as data."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import torch

from .errors import BridgeError

dtype_names = {
    torch.float32: "f32",
    torch.float64: "f64",
    torch.float16: "f16",
    torch.bfloat16: "bf16",
    torch.int8: "i8",
    torch.int16: "i16",
    torch.int32: "i32",
    torch.int64: "i64",
    torch.uint8: "u8",
    torch.bool: "bool",
}

_memory_formats = {
    torch.contiguous_format: "contiguous_format",
    torch.preserve_format: "preserve_format",
    torch.channels_last: "channels_last",
    torch.channels_last_3d: "channels_last_3d",
}


def dtype_name(dtype: torch.dtype) -> str:
    if dtype not in dtype_names:
        raise BridgeError(f"a tensor of {dtype}, which a task cannot have")
    return dtype_names[dtype]


@dataclass(frozen=True)
class ValueName:
    """The name of a value, told apart from a string argument."""

    text: str


@dataclass
class Leaf:
    name: str
    dtype: torch.dtype
    shape: list[int]
    strides: list[int]
    source: dict[str, Any]  #: {"draw": …} or {"key": …}

    @staticmethod
    def like(name: str, tensor: torch.Tensor, source: dict[str, Any]) -> Leaf:
        return Leaf(name, tensor.dtype, list(tensor.shape), list(tensor.stride()), source)

    def to_json(self) -> dict[str, Any]:
        made: dict[str, Any] = {"name": self.name, "dtype": dtype_name(self.dtype), "shape": self.shape}
        if self.strides != _contiguous_strides(self.shape):
            made["strides"] = self.strides
        return made | self.source


@dataclass
class Node:
    name: str
    op: str
    args: list[Any]
    kwargs: dict[str, Any] = field(default_factory=dict)
    writes_state: list[str] = field(default_factory=list)
    outputs: list[torch.Tensor] = field(default_factory=list)  #: declared, for what is too large to be tried

    def to_json(self) -> dict[str, Any]:
        made: dict[str, Any] = {"name": self.name, "op": self.op, "args": [argument_to_json(a) for a in self.args]}
        if self.kwargs:
            made["kwargs"] = {key: argument_to_json(value) for key, value in self.kwargs.items()}
        if self.outputs:
            made["outputs"] = [_declaration(tensor) for tensor in self.outputs]
        if self.writes_state:
            made["writes_state"] = self.writes_state
        return made


def _declaration(tensor: torch.Tensor) -> dict[str, Any]:
    return {"dtype": dtype_name(tensor.dtype), "shape": list(tensor.shape), "strides": list(tensor.stride())}


def _contiguous_strides(shape: list[int]) -> list[int]:
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return strides[::-1]


def argument_to_json(argument: Any) -> Any:
    """An operator's argument; devices and layouts are left to the machine that runs the task."""
    if isinstance(argument, ValueName):
        return argument.text
    if argument is None or isinstance(argument, (bool, int)):
        return argument
    if isinstance(argument, float):
        return argument if math.isfinite(argument) else {"float": _special_float(argument)}
    if isinstance(argument, str):
        return {"string": argument}
    if isinstance(argument, (list, tuple)):
        return [argument_to_json(element) for element in argument]
    if isinstance(argument, torch.dtype):
        return _dtype_to_json(argument)
    if isinstance(argument, torch.memory_format):
        return {"string": _memory_formats[argument]}
    if isinstance(argument, torch.device) or argument == torch.strided:
        return None
    raise BridgeError(f"an argument of type {type(argument).__name__}, which a task cannot have")


def _special_float(value: float) -> str:
    if math.isnan(value):
        return "nan"
    return "inf" if value > 0 else "-inf"


def _dtype_to_json(dtype: torch.dtype) -> dict[str, Any]:
    # The oracle computes everything in fp64, so it may widen every floating dtype that an operator is asked for.
    made: dict[str, Any] = {"dtype": dtype_name(dtype)}
    return made | {"compute": True} if dtype.is_floating_point else made
