"""The shapes of recurrent layers, found from one step of their sequences.

Fake tensors run PyTorch's decompositions of these ops step by step, only to learn how large the results are: for six
bidirectional layers of 512 steps three quarters of a minute.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch._decomp import decomposition_table
from torch._subclasses.fake_tensor import FakeTensor
from torch.fx.experimental.proxy_tensor import get_proxy_mode

Kernel = Callable[..., tuple[torch.Tensor, ...]]

#: Packed sequences (the overload "data") cannot be exported at all: their sizes depend on numbers.
RECURRENT_OPS = [getattr(torch.ops.aten, name).input for name in ("gru", "lstm", "rnn_relu", "rnn_tanh")]


@contextlib.contextmanager
def shapes_from_one_step() -> Iterator[None]:
    """Inside, recurrent ops on fake tensors cost as much as one step; on others, and while ops are being recorded, they
    are what they were."""
    with contextlib.ExitStack() as replaced:
        for op in RECURRENT_OPS:
            replaced.callback(op._dispatch_cache.clear)  # it holds kernels that were in use
            for key in list(op.py_kernels):
                replaced.enter_context(_one_step_in(op.py_kernels, key))
            if op in decomposition_table:  # which functionalization asks instead
                replaced.enter_context(_one_step_in(decomposition_table, op))
            op._dispatch_cache.clear()
        yield


@contextlib.contextmanager
def _one_step_in(table: dict[Any, Kernel], key: Any) -> Iterator[None]:
    every_step = table[key]
    table[key] = _of_one_step(every_step)
    try:
        yield
    finally:
        table[key] = every_step


def _of_one_step(every_step: Kernel) -> Kernel:
    """Dtypes, devices and complaints are those of `every_step`."""

    def kernel(input: torch.Tensor, hx: Any, params: Any, has_biases: bool, num_layers: int, dropout: float, train: bool,
               bidirectional: bool, batch_first: bool) -> tuple[torch.Tensor, ...]:
        rest = (hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first)
        if not _only_shapes_matter(input):
            return every_step(input, *rest)
        time = 1 if batch_first else 0
        output, *last = every_step(input[:, :1] if batch_first else input[:1], *rest)  # (1, B, D*H), and L*D, B, H each
        batch, width = output.size(1 - time), output.size(2)
        whole = output.new_empty(input.size(time), batch, width)  # steps lie one after the other in memory
        return whole.transpose(0, 1) if batch_first else whole, *last

    return kernel


def _only_shapes_matter(input: torch.Tensor) -> bool:
    return isinstance(input, FakeTensor) and get_proxy_mode() is None and input.dim() == 3
