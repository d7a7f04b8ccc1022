"""How a module is called: what an exported package needs to know beside the graph.

A structure is one of {"tensor": index}, {"value": plain value}, {"tuple": [...]}, {"list": [...]}, {"dict": {...}},
{"dtype": "float16"} and {"other": type's name}; indices count the tensors in the order of the task's inputs or outputs.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import torch
from torch.utils._pytree import tree_unflatten

PLAIN = (bool, int, float, str, type(None))


def describe_interface(
    positional: list[Any], named: dict[str, Any], program: torch.export.ExportedProgram, init: Any
) -> dict[str, Any]:
    numbers = itertools.count()
    count = len(program.graph_signature.user_outputs)
    results = tree_unflatten([_Output(index) for index in range(count)], program.call_spec.out_spec)
    return {
        "positional": [_structure(value, numbers) for value in positional],
        "named": {name: _structure(value, numbers) for name, value in named.items()},
        "outputs": _structure(results, numbers),
        "init": _plain_or_none(init),
        "construct": _structure(init, itertools.count()),
    }


class _Output(int):
    """An output's index where the output itself will be."""


def _structure(value: Any, numbers: Iterator[int]) -> dict[str, Any]:
    if isinstance(value, _Output):
        return {"tensor": int(value)}
    if isinstance(value, torch.Tensor):
        return {"tensor": next(numbers)}
    if type(value) in PLAIN:
        return {"value": value}
    if isinstance(value, torch.dtype):
        return {"dtype": str(value).removeprefix("torch.")}
    if type(value) in (tuple, list):
        return {type(value).__name__: [_structure(part, numbers) for part in value]}
    if type(value) is dict and all(isinstance(key, str) for key in value):
        return {"dict": {key: _structure(part, numbers) for key, part in value.items()}}
    return {"other": type(value).__name__}


def _plain_or_none(init: Any) -> Any:
    """The constructor's arguments, where they can be compared with others; None where they cannot."""
    if type(init) in (list, tuple):
        parts = [_plain_or_none(part) for part in init]
        return {"list": parts} if all(part is not None for part in parts) else None
    if type(init) is dict and all(isinstance(key, str) for key in init):
        entries = {key: _plain_or_none(part) for key, part in init.items()}
        return {"dict": entries} if all(part is not None for part in entries.values()) else None
    return {"value": init} if type(init) in PLAIN else None
