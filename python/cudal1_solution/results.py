"""What a call may give back: plain tensors in memory of their own, structured as the reference's."""

from __future__ import annotations

import random
from typing import Any

import torch

from .arena import DTYPES
from .failures import SolutionFailure

_keys = torch._C._dispatch_keys
_data_ptr = torch.Tensor.data_ptr
_element_size = torch.Tensor.element_size
_stride = torch.Tensor.stride
_numel = torch.Tensor.numel
_clone = torch.Tensor.clone
_equal = torch.equal
_isnan = torch.isnan
_Tensor = torch.Tensor


def tensors_of(structure: dict[str, Any], value: Any) -> list[torch.Tensor]:
    """In the order of the task's outputs."""
    found: dict[int, torch.Tensor] = {}
    _collect(structure, value, found)
    return [found[index] for index in sorted(found)]


def _collect(structure: dict[str, Any], value: Any, found: dict[int, torch.Tensor]) -> None:
    if "tensor" in structure:
        found[structure["tensor"]] = _plain(value)
        return
    parts: Any = structure.get("tuple", structure.get("list", structure.get("named", {}).get("parts")))
    if parts is not None:
        is_sequence = isinstance(value, tuple) if "named" in structure else type(value) in (tuple, list)
        if not is_sequence or len(value) != len(parts):
            raise SolutionFailure("wrong_result", f"forward returns {_describe(value)}, the reference {len(parts)} values")
        for part, element in zip(parts, value):
            _collect(part, element, found)
    elif "dict" in structure:
        if type(value) is not dict or value.keys() != structure["dict"].keys():
            raise SolutionFailure("wrong_result", f"forward returns {_describe(value)}, the reference a dictionary with other keys")
        for key, part in structure["dict"].items():
            _collect(part, value[key], found)


def _describe(value: Any) -> str:
    return f"{type(value).__name__} of {len(value)}" if type(value) in (tuple, list, dict) else type(value).__name__


def _plain(value: Any) -> torch.Tensor:
    if not isinstance(value, _Tensor):
        raise SolutionFailure("wrong_result", f"forward returns {type(value).__name__} where the reference returns a tensor")
    if type(value) is not _Tensor:
        raise SolutionFailure("forbidden", f"forward returns a {type(value).__name__}; a result must be a plain tensor that is computed")
    if any(callable(attribute) for attribute in vars(value).values()):
        raise SolutionFailure("forbidden", "forward returns a tensor with methods of its own")
    return value


class ResultChecks:
    """`metas`: dtype and sizes of every output, and whether the reference's is a view of an input."""

    def __init__(self, metas: list[dict[str, Any]], device: torch.device) -> None:
        self._metas = metas
        self._plain_keys = {dtype: str(_keys(torch.empty(1, dtype=dtype, device=device))) for dtype in DTYPES.values()}
        self._device = torch.empty(0, device=device).device

    def check(self, results: list[torch.Tensor], weights: dict[str, torch.Tensor], earlier: list[torch.Tensor], arena: Any) -> None:
        if len(results) != len(self._metas):
            raise SolutionFailure("wrong_result", f"forward returns {len(results)} tensors, the reference {len(self._metas)}")
        for index, (tensor, meta) in enumerate(zip(results, self._metas)):
            self._check_form(index, tensor, meta)
            if not meta["is_view"]:
                self._check_memory(index, tensor, weights, earlier, arena)

    def _check_form(self, index: int, tensor: torch.Tensor, meta: dict[str, Any]) -> None:
        wanted = DTYPES[meta["dtype"]]
        if tensor.dtype != wanted or list(tensor.shape) != meta["sizes"]:
            given = f"{tensor.dtype}{list(tensor.shape)}".replace("torch.", "")
            raise SolutionFailure("wrong_result", f"result {index} is {given}, the reference's {str(wanted)[6:]}{meta['sizes']}")
        if tensor.device != self._device:
            raise SolutionFailure("wrong_result", f"result {index} is on {tensor.device}, not on {self._device}")
        if tensor.layout != torch.strided or str(_keys(tensor)) != self._plain_keys[wanted]:
            raise SolutionFailure("forbidden", f"result {index} is no plain strided tensor, but one that is computed when it is read")
        if _numel(tensor) > 0 and _data_ptr(tensor) == 0:
            raise SolutionFailure("forbidden", f"result {index} has no memory")

    def _check_memory(
        self, index: int, tensor: torch.Tensor, weights: dict[str, torch.Tensor], earlier: list[torch.Tensor], arena: Any
    ) -> None:
        begin, end = _range(tensor)
        if begin == end:
            return
        if arena.overlaps(begin, end):
            raise SolutionFailure("forbidden", f"result {index} shares memory with an input; the reference's does not")
        for name, weight in weights.items():
            if _overlap((begin, end), _range(weight)):
                raise SolutionFailure("forbidden", f"result {index} shares memory with the weight '{name}'")
        if any(_overlap((begin, end), _range(other)) for other in earlier):
            raise SolutionFailure("forbidden", f"result {index} lies in memory of an earlier call's result, which its caller may still hold")


class EarlierResults:
    """What the last call gave: its caller may still hold it, so the next call must neither use its memory nor change it."""

    LARGE_BYTES = 256 << 20  #: of these, not every call's are compared: nobody can tell which

    def __init__(self) -> None:
        self.tensors: list[torch.Tensor] = []
        self._copies: dict[int, torch.Tensor] = {}

    def keep(self, results: list[torch.Tensor], metas: list[dict[str, Any]], states: list[torch.Tensor]) -> None:
        """Who returns a state, as the reference does then, returns what changes."""
        self.tensors = results
        changing = [_range(state) for state in states]
        is_large = sum(_numel(tensor) * _element_size(tensor) for tensor in results) > self.LARGE_BYTES
        looked_at = results if not is_large or random.random() < 0.25 else []
        self._copies = {
            i: _clone(tensor)
            for i, (tensor, meta) in enumerate(zip(looked_at, metas))
            if not meta["is_view"] and not any(_overlap(_range(tensor), other) for other in changing)
        }

    def check(self) -> None:
        for index, copy in self._copies.items():
            if not _same(self.tensors[index], copy):
                raise SolutionFailure("forbidden", f"a call changes result {index} of the call before it, which its caller may still hold")


def _same(one: torch.Tensor, other: torch.Tensor) -> bool:
    if _equal(one, other):
        return True
    if not one.is_floating_point():
        return False
    nan = _isnan(one)
    return _equal(nan, _isnan(other)) and _equal(one.masked_fill(nan, 0), other.masked_fill(nan, 0))


def _range(tensor: torch.Tensor) -> tuple[int, int]:
    if _numel(tensor) == 0:
        return 0, 0
    begin = _data_ptr(tensor)
    last = sum((size - 1) * stride for size, stride in zip(tensor.shape, _stride(tensor)))
    return begin, begin + (last + 1) * _element_size(tensor)


def _overlap(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one[0] < other[1] and other[0] < one[1]
