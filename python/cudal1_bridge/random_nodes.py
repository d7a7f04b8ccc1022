"""Operators that draw random numbers. Each draws under a seed made of its node's name, so that whoever runs the task
draws the same: the reference, the oracle, a candidate, and the module itself beside them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch
from torch.fx import Node as FxNode
from torch.utils._python_dispatch import TorchDispatchMode

aten = torch.ops.aten

_forms = {
    aten.dropout.default: aten.native_dropout.default,  # value and mask
    aten.dropout_.default: aten.native_dropout.default,
    aten.native_dropout.default: aten.native_dropout.default,
    aten.rand_like.default: aten.rand_like.default,
    aten.randn_like.default: aten.randn_like.default,
    aten.bernoulli.p: aten.bernoulli.p,
}
# What eager PyTorch calls for these; on the CPU, dropout and Dropout2d draw their masks in place.
_draws = {aten.native_dropout.default, aten.rand_like.default, aten.randn_like.default, aten.bernoulli.p,
          aten.bernoulli_.float}
_switches = ("train", "training")
_probabilities = ("p", "dropout_p", "dropout")


def repeatable_form(operator: torch._ops.OpOverload) -> torch._ops.OpOverload | None:
    """The operator that draws the same under the same seed whoever calls it."""
    return _forms.get(operator)


def draws_random_numbers(node: FxNode) -> bool:
    """Dropout and its kin carry the tag even where they draw nothing."""
    if torch.Tag.nondeterministic_seeded not in node.target.tags:
        return False
    given = {argument.name: argument.default_value for argument in node.target._schema.arguments}
    given |= dict(zip(given, node.args, strict=False)) | dict(node.kwargs)
    is_off = any(given.get(name) is False for name in _switches)
    draws_nothing = any(name in given and given[name] == 0.0 for name in _probabilities)
    return not (is_off or draws_nothing)


def seed_of_node(name: str) -> int:
    """FNV-1a, as src/graph/random_nodes.cpp computes it."""
    value = 0xCBF29CE484222325
    for byte in name.encode():
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value >> 1


@contextlib.contextmanager
def seeded_draws(graph: dict[str, Any]) -> Iterator[None]:
    """The module's draws, in order, are those of the task's nodes."""
    drawing = {operator.name() for operator in _forms.values()}
    names = [node["name"] for node in graph["nodes"] if node["op"] in drawing]
    with _SeededDraws(names) if names else contextlib.nullcontext():
        yield


class _SeededDraws(TorchDispatchMode):
    def __init__(self, names: list[str]) -> None:
        super().__init__()
        self._names = iter(names)

    def __torch_dispatch__(self, target: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if target in _draws:
            torch.manual_seed(seed_of_node(next(self._names)))
        return target(*args, **(kwargs or {}))
