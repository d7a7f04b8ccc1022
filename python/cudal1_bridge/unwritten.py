"""Memory that nobody has written yet (torch.empty and its kin). A task is a function of its leaves, so that what lies
there may not matter: what forward writes before it reads it may as well begin with zeros."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch.fx import Node as FxNode

from .random_nodes import DRAWS, PLAIN_FORMS

aten = torch.ops.aten

_beginnings = ("empty", "new_empty", "_empty")
# Those that take their first argument for the memory, or to write a part of it.
_writers = {"copy", "fill", "zero", "slice_scatter", "select_scatter", "diagonal_scatter", "as_strided_scatter",
            "index_put", "index_copy", "index_fill", "scatter", "masked_fill", "masked_scatter"}  # fmt: skip

_of_noise = {aten.rrelu_with_noise.default, aten.rrelu_with_noise_.default, aten.rrelu_with_noise_functional.default}


def gives_unwritten_memory(op: torch._ops.OpOverload) -> bool:
    return op.overloadpacket.__name__.startswith(_beginnings)


def objection_to_zeros(node: FxNode) -> str | None:
    if _is_read_first(node):
        return "and forward reads it, so that there is nothing to compare"
    if not node.meta["val"].is_contiguous() and node.target is not aten.empty_like.default:
        return "in a layout that a task cannot give it"
    return None


def zeros_instead(node: FxNode) -> tuple[torch._ops.OpOverload, tuple[Any, ...], dict[str, Any]]:
    """The same memory, all zeros, where nothing stands against that."""
    memory = node.meta["val"]
    if not memory.is_contiguous():
        return aten.zeros_like.default, node.args, node.kwargs
    return aten.zeros.default, (list(memory.shape),), {"dtype": memory.dtype, "device": memory.device}


def _is_read_first(node: FxNode) -> bool:
    positions = {other: i for i, other in enumerate(node.graph.nodes)}
    first = min(_users_of(node), key=lambda pair: positions[pair[1]], default=None)
    return first is not None and not _writes(*first)


def _users_of(tensor: FxNode) -> Iterator[tuple[FxNode, FxNode]]:
    """Tensors in this memory, and who uses them; a view of it is another name for it."""
    for user in tensor.users:
        if isinstance(user.target, torch._ops.OpOverload) and _is_view(user.target):
            yield from _users_of(user)
        else:
            yield tensor, user


def _is_view(op: torch._ops.OpOverload) -> bool:
    return not op._schema.is_mutable and any(returned.alias_info for returned in op._schema.returns)


def _writes(tensor: FxNode, user: FxNode) -> bool:
    op = user.target
    if not isinstance(op, torch._ops.OpOverload):
        return False
    if any(user.kwargs.get(argument.name) is tensor for argument in op._schema.arguments if argument.is_out):
        return True
    if op in _of_noise and tensor in user.args[1:2]:
        return True
    return user.args[:1] == (tensor,) and _takes_memory_only(op)


def _takes_memory_only(op: torch._ops.OpOverload) -> bool:
    name = op.overloadpacket.__name__
    if name.removesuffix("_") in _writers or name.endswith("_like") or name.startswith("new_"):
        return True
    plain = PLAIN_FORMS.get(op, op)
    return plain in DRAWS or plain is aten.bernoulli.Tensor
