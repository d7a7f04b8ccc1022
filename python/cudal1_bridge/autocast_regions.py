"""What autocast does inside of operators that are made of others.

PyTorch makes the casts of autocast explicit for operators that autocast knows (linear, matmul, convolutions). One that
it does not know, but that calls some of those (einsum, bilinear, recurrent layers), stays whole when a graph is made
plain, and would be computed without any cast. Such ones are replaced by what they do under autocast."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch._guards import detect_fake_mode
from torch.fx import GraphModule
from torch.fx import Node as FxNode
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.node import map_aggregate
from torch.utils._pytree import tree_flatten, tree_map, tree_unflatten

aten = torch.ops.aten

_AUTOCAST_KEYS = {"cpu": "AutocastCPU", "cuda": "AutocastCUDA"}
_RECURRENT = {aten.lstm.input, aten.gru.input, aten.rnn_tanh.input, aten.rnn_relu.input}


def spell_out_autocast(program: torch.export.ExportedProgram) -> None:
    """Changes the graphs of the program's regions under autocast."""
    for region, device, dtype in list(_regions(program)):
        for node in region.graph.nodes:
            if node.op == "call_function" and _is_opaque(node.target, device):
                node.target = _spelled_out(node, device, dtype) or node.target
        region.recompile()


def _regions(program: torch.export.ExportedProgram) -> Iterator[tuple[GraphModule, str, torch.dtype]]:
    for module in program.graph_module.modules():
        for node in module.graph.nodes if isinstance(module, GraphModule) else ():
            if node.target is torch.ops.higher_order.wrap_with_autocast and node.args[2]:
                device, dtype, _, _, region = node.args[:5]
                yield getattr(module, region.target), device, dtype or torch.get_autocast_dtype(device)


def _is_opaque(target: Any, device: str) -> bool:
    if not isinstance(target, torch._ops.OpOverload) or device not in _AUTOCAST_KEYS:
        return False
    has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key
    return has_kernel(target.name(), "CompositeImplicitAutograd") and not has_kernel(target.name(), _AUTOCAST_KEYS[device])


def _spelled_out(node: FxNode, device: str, dtype: torch.dtype) -> Callable[..., Any] | None:
    """None where autocast makes no difference."""
    if node.target in _RECURRENT and (device == "cuda" or node.target is aten.lstm.input):
        return _in_lower_precision(node.target, device, dtype)  # as cuDNN's and oneDNN's kernels compute them
    plain, cast = (_traced(node, device, dtype, enabled) for enabled in (False, True))
    return cast if _casts(cast.graph_module, dtype) > _casts(plain.graph_module, dtype) else None


def _in_lower_precision(target: Any, device: str, dtype: torch.dtype) -> Callable[..., Any]:
    def lower(value: Any) -> Any:
        return value.to(dtype) if isinstance(value, torch.Tensor) and value.is_floating_point() else value

    def call(*args: Any, **kwargs: Any) -> Any:
        args, kwargs = tree_map(lower, (args, kwargs))
        with torch.autocast(device, enabled=False):
            return target(*args, **kwargs)

    return call


def _traced(node: FxNode, device: str, dtype: torch.dtype, enabled: bool) -> Any:
    """A function of the node's arguments that calls what the operator calls."""
    given, structure = tree_flatten(map_aggregate((node.args, dict(node.kwargs)), _value_of))
    is_tensor = [isinstance(part, torch.Tensor) for part in given]
    target = node.target

    def run(*tensors: torch.Tensor) -> Any:
        rest = iter(tensors)
        args, kwargs = tree_unflatten([next(rest) if flag else part for part, flag in zip(given, is_tensor, strict=True)], structure)
        with torch.autocast(device, dtype, enabled=enabled):
            return target(*args, **kwargs)

    tensors = [part for part in given if isinstance(part, torch.Tensor)]
    with detect_fake_mode(tensors) or torch.no_grad():
        made = make_fx(run)(*tensors)

    def call(*args: Any, **kwargs: Any) -> Any:
        return made(*(part for part, flag in zip(tree_flatten((args, kwargs))[0], is_tensor, strict=True) if flag))

    call.graph_module = made  # type: ignore[attr-defined]
    return call


def _value_of(argument: Any) -> Any:
    return argument.meta["val"] if isinstance(argument, FxNode) else argument


def _casts(module: GraphModule, dtype: torch.dtype) -> int:
    return sum(node.target is aten._to_copy.default and node.kwargs.get("dtype") == dtype for node in module.graph.nodes)
