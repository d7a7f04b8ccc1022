"""What the ways to run a module share about tensors."""

from __future__ import annotations

from typing import Any

import torch


def plain_tensors(model: torch.nn.Module) -> list[tuple[torch.nn.Module, str, torch.Tensor]]:
    """(part, name, tensor) of those that are neither parameters nor buffers: a module may keep constants, or a state, in
    them, and nothing of torch moves them."""
    return [
        (part, name, value)
        for part in model.modules()
        for name, value in vars(part).items()
        if isinstance(value, torch.Tensor)
    ]


def copied(value: Any) -> Any:
    """The same numbers in the same layout at another address: what a compiler or a guard has seen of an input stays so."""
    if not isinstance(value, torch.Tensor):
        return value
    if torch.ops.aten.is_non_overlapping_and_dense(value) or value.layout != torch.strided:
        return value.clone()
    storage = value.untyped_storage().clone()  # clone() would close the gaps
    return value.new_empty(0).set_(storage, value.storage_offset(), value.size(), value.stride())


def worst_difference(wanted: list[torch.Tensor], given: list[torch.Tensor]) -> tuple[float, float]:
    """(largest difference, largest number) of the tensor that is off by most for its size. Of tensors that hold no
    floating-point numbers: (share of elements that differ, 1). What is not finite must be so in both."""
    pairs = [_difference(a, b) for a, b in zip(wanted, given, strict=True) if a.numel()]
    return max(pairs, key=lambda pair: pair[0] / max(pair[1], 1e-30), default=(0.0, 0.0))


def _difference(wanted: torch.Tensor, given: torch.Tensor) -> tuple[float, float]:
    if not (wanted.is_floating_point() or wanted.is_complex()):
        return wanted.ne(given).float().mean().item(), 1.0
    if wanted.dtype in (torch.float16, torch.bfloat16):
        wanted, given = wanted.float(), given.float()
    finite = wanted.isfinite()
    unlike = finite.ne(given.isfinite()).float().mean().item()  # NaN in one of them would hide everything else
    zero = torch.zeros((), dtype=wanted.dtype, device=wanted.device)
    wanted, given = torch.where(finite, wanted, zero), torch.where(given.isfinite(), given, zero)
    scale = wanted.abs().max().item()
    return max((wanted - given).abs().max().item(), unlike * scale), scale
