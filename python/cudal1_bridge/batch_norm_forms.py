"""Batch norm as modules call it. Where PyTorch makes a graph plain (views that are written, autocast), it takes batch
norm apart: into forms that may leave cuDNN, and of which the one for training gives new statistics as results."""

from __future__ import annotations

import operator
from typing import Any

import torch
from torch.fx import Node as FxNode

aten = torch.ops.aten

#: Where the results of `_native_batch_norm_legit_functional` are the new statistics.
NEW_STATISTICS = (3, 4)

# operator -> its arguments as those of batch_norm: …, running mean and variance, training, momentum, epsilon
_FORMS = {
    aten._native_batch_norm_legit_functional.default: lambda *given: given,
    aten._native_batch_norm_legit.no_stats: lambda x, weight, bias, *rest: (x, weight, bias, None, None, *rest),
    aten._native_batch_norm_legit_no_training.default: lambda *given: (*given[:5], False, *given[5:]),
}


def original_batch_norm(node: FxNode) -> list[Any] | None:
    """The arguments of aten::batch_norm; None where the node is no part of one, or somebody reads what only the parts
    give."""
    if node.target not in _FORMS or node.kwargs or not all(_is_result_of_batch_norm(user) for user in node.users):
        return None
    return [*_FORMS[node.target](*node.args), True]  # the last, cudnn_enabled, is the executing device's to say


def _is_result_of_batch_norm(user: FxNode) -> bool:
    return user.target is operator.getitem and user.args[1] in (0, *NEW_STATISTICS)
