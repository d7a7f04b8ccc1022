"""Other sizes for a module's inputs than those its file asks for: `x=32x128` names an argument of `forward`,
`batch_size=32` a number that the file defines and its `get_inputs` reads."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from .errors import BridgeError
from .module_file import ModuleFile

Sizes = tuple[int, ...]
_FIRST_IS_SIZE = {torch.rand, torch.randn, torch.zeros, torch.ones, torch.full}


def set_sizes(file: ModuleFile, text: str) -> None:
    """Changes the module that was imported, not its file. Raises BridgeError."""
    arguments = list(inspect.signature(file.module.Model.forward).parameters)[1:]
    of_inputs: dict[int, Sizes] = {}
    for name, sizes in parse_sizes(text).items():
        if name in arguments:
            of_inputs[arguments.index(name)] = sizes
        elif len(sizes) == 1 and type(getattr(file.module, name, None)) is int:
            setattr(file.module, name, sizes[0])
        else:
            raise BridgeError(f"{file.path}: '{name}' of {text!r} is neither an argument of forward nor a number of the file")
    if of_inputs:
        file.module.get_inputs = _resized(file.module.get_inputs, of_inputs, arguments)  # type: ignore[attr-defined]


def parse_sizes(text: str) -> dict[str, Sizes]:
    sizes: dict[str, Sizes] = {}
    for part in text.split(","):
        found = re.fullmatch(r"\s*([A-Za-z_]\w*)\s*=\s*(\d+(?:x\d+)*)\s*", part)
        if not found:
            raise BridgeError(f"'{part.strip()}' is no size such as x=32x128")
        sizes[found[1]] = tuple(int(size) for size in found[2].split("x"))
    return sizes


def _resized(get_inputs: Callable[[], Any], wanted: dict[int, Sizes], names: list[str]) -> Callable[[], Any]:
    def get_resized_inputs() -> Any:
        with _Factories() as recorded:
            given = get_inputs()
        changes = {recorded.call_that_made(_part(given, index, names)): sizes for index, sizes in wanted.items()}
        with _Factories(changes):
            made = get_inputs()
        for index, sizes in wanted.items():
            if not isinstance(_part(made, index, names), torch.Tensor) or tuple(_part(made, index, names).shape) != sizes:
                raise BridgeError(
                    f"get_inputs computes {names[index]}, so its sizes cannot be set: name the numbers of the file instead"
                )
        return made

    return get_resized_inputs


def _part(inputs: Any, index: int, names: list[str]) -> Any:
    if isinstance(inputs, dict):
        return inputs.get(names[index])
    return inputs[index] if index < len(inputs) else None


class _Factories(TorchFunctionMode):
    """Counts the calls that make tensors of given sizes, and changes the sizes of some."""

    def __init__(self, changes: dict[int | None, Sizes] | None = None) -> None:
        super().__init__()
        self._changes = changes or {}
        self._results: list[torch.Tensor] = []

    def call_that_made(self, tensor: Any) -> int | None:
        """Itself, or alone what it was made from: tensors are often scaled or cast afterwards."""
        for number, result in enumerate(self._results):
            if result is tensor:
                return number
        alike = [i for i, result in enumerate(self._results) if result.shape == getattr(tensor, "shape", None)]
        return alike[0] if len(alike) == 1 else None

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func not in _FIRST_IS_SIZE and func is not torch.randint:
            return func(*args, **kwargs)
        sizes = self._changes.get(len(self._results))
        if sizes is not None:
            args, kwargs = _with_sizes(func, args, kwargs, sizes)
        result = func(*args, **kwargs)
        self._results.append(result)
        return result


def _with_sizes(func: Any, args: Any, kwargs: dict[str, Any], sizes: Sizes) -> tuple[Any, dict[str, Any]]:
    if "size" in kwargs:
        return args, kwargs | {"size": sizes}
    if func is torch.randint:
        return (*args[:-1], sizes), kwargs
    return (sizes, *args[1:]) if func is torch.full else (sizes,), kwargs
