"""How a module is called: what an exported package needs to know beside the graph.

A structure is one of {"tensor": index}, {"value": plain value}, {"tuple": [...]}, {"list": [...]}, {"dict": {...}},
{"dtype": "float16"}, {"named": {"module", "type", "parts"}} (a named tuple; module "" is the user's own file) and {"other": type's name};
indices count the tensors in the order of the task's inputs or outputs. "first_call_only" names the tensors that forward
replaces and the task does not (python_state.py), "no_package" says why nothing can stand in for the module, where that
is so. What the module is made of is described as likeness.py does.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import torch
from torch.utils._pytree import tree_unflatten

from .likeness import Describer, describe_arguments, tied_weights

PLAIN = (bool, int, float, str, type(None))


def describe_interface(
    positional: list[Any],
    named: dict[str, Any],
    program: torch.export.ExportedProgram,
    init: Any,
    model: torch.nn.Module,
    user: ModuleType,
) -> dict[str, Any]:
    """`user`: the module file, whose own types go by their name in it. `model` was constructed with `init`."""
    numbers = itertools.count()
    count = len(program.graph_signature.user_outputs)
    results = tree_unflatten([_Output(index) for index in range(count)], program.call_spec.out_spec)
    return {
        "positional": [_structure(value, numbers, user) for value in positional],
        "named": {name: _structure(value, numbers, user) for name, value in named.items()},
        "outputs": _structure(results, numbers, user),
        "construct": _structure(init, itertools.count(), user),
        "construction": describe_arguments(init, user),
        "parts": {path: traits for path, _, traits in Describer(user, model).parts()},
        "ties": tied_weights(model),
        "no_package": _why_no_package(model, user),
    }


def _why_no_package(model: torch.nn.Module, user: ModuleType) -> str:
    if not isinstance(user.Model, type):
        return f"Model is a {type(user.Model).__name__}, and a package's ModelNew is derived from a class"
    if any(getattr(model, f"{kind}_hooks") for kind in ("_forward", "_forward_pre")):
        return "the constructor sets hooks on the module itself, which the program computes and a package would run again"
    return ""


class _Output(int):
    """An output's index where the output itself will be."""


def _structure(value: Any, numbers: Iterator[int], user: ModuleType) -> dict[str, Any]:
    if isinstance(value, _Output):
        return {"tensor": int(value)}
    if isinstance(value, torch.Tensor):
        return {"tensor": next(numbers)}
    if type(value) in PLAIN:
        return {"value": value}
    if isinstance(value, torch.dtype):
        return {"dtype": str(value).removeprefix("torch.")}
    if type(value) in (tuple, list):
        return {type(value).__name__: [_structure(part, numbers, user) for part in value]}
    if type(value) is dict and all(isinstance(key, str) for key in value):
        return {"dict": {key: _structure(part, numbers, user) for key, part in value.items()}}
    if (place := _named_tuple(type(value), user)) is not None:
        return {"named": place | {"parts": [_structure(part, numbers, user) for part in value]}}
    return {"other": "dict with keys that are no strings" if type(value) is dict else type(value).__name__}


def _named_tuple(kind: type, user: ModuleType) -> dict[str, str] | None:
    """Where a package finds this type again; None for what is no named tuple, or cannot be found by name."""
    if not issubclass(kind, tuple) or kind.__qualname__ != kind.__name__:
        return None
    if getattr(user, kind.__name__, None) is kind and hasattr(kind, "_make"):
        return {"module": "", "type": kind.__name__}
    if getattr(torch.return_types, kind.__name__, None) is kind:
        return {"module": "torch.return_types", "type": kind.__name__}
    return None
