"""What PyTorch itself can do with a module: the baselines a program has to beat.

All share one model, so that they compute with the same weights. Flags are PyTorch's defaults, except where a variant is
about a flag.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._pytree import tree_map

from .errors import BridgeError
from .tensors import copied

Call = Callable[..., Any]


@dataclass(frozen=True)
class Variant:
    """A way to run a model. `make` may take long and raises BridgeError where the way does not apply."""

    name: str
    make: Callable[[torch.nn.Module, list[Any], dict[str, Any]], Call]
    flags: Callable[[], contextlib.AbstractContextManager[None]] = contextlib.nullcontext
    #: PyTorch keeps the plans of cuDNN per thread and does not ask how they were chosen: after a call of eager mode, the
    #: same thread would find eager's, and nothing would be measured and chosen.
    own_thread: bool = False


def _eager(model: torch.nn.Module, positional: list[Any], named: dict[str, Any]) -> Call:
    return model


def _compiled(mode: str | None) -> Callable[[torch.nn.Module, list[Any], dict[str, Any]], Call]:
    def make(model: torch.nn.Module, positional: list[Any], named: dict[str, Any]) -> Call:
        # No torch._dynamo.reset(): it would throw away what another way has compiled. Ways differ in their mode, so none
        # runs what was compiled for another.
        call = torch.compile(model, mode=mode)
        for _ in range(3):  # the first compiles, and reduce-overhead records its graph in the next
            call(*positional, **named)
        return call

    return make


def _cuda_graph(model: torch.nn.Module, positional: list[Any], named: dict[str, Any]) -> Call:
    """Fresh inputs are copied in and outputs copied out: a caller may keep what a call gave."""
    if not _is_cuda(positional, named):
        raise BridgeError("CUDA Graphs need a GPU")
    inputs, keywords = tree_map(copied, positional), tree_map(copied, named)
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            model(*inputs, **keywords)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        outputs = model(*inputs, **keywords)

    def call(*args: Any, **kwargs: Any) -> Any:
        tree_map(_copy_into, inputs, list(args))
        tree_map(_copy_into, keywords, kwargs)
        graph.replay()
        return tree_map(copied, outputs)

    return call


def _channels_last(model: torch.nn.Module, positional: list[Any], named: dict[str, Any]) -> Call:
    """Weights are converted once, inputs at every call, as a caller of the module would have to."""
    formats = {4: torch.channels_last, 5: torch.channels_last_3d}
    used = {parameter.dim() for parameter in model.parameters()} & set(formats)
    if not used:
        raise BridgeError("no weight has four or five dimensions")
    for parameter in model.parameters():
        if parameter.dim() in formats:
            parameter.data = parameter.data.contiguous(memory_format=formats[parameter.dim()])

    def converted(value: Any) -> Any:
        if isinstance(value, torch.Tensor) and value.dim() in used:
            return value.contiguous(memory_format=formats[value.dim()])
        return value

    return lambda *args, **kwargs: model(*tree_map(converted, args), **tree_map(converted, kwargs))


@contextlib.contextmanager
def _cudnn_benchmark() -> Iterator[None]:
    before = torch.backends.cudnn.benchmark
    torch.backends.cudnn.benchmark = True
    try:
        yield
    finally:
        torch.backends.cudnn.benchmark = before


def _copy_into(target: Any, source: Any) -> None:
    if isinstance(target, torch.Tensor):
        target.copy_(source)


def _is_cuda(positional: list[Any], named: dict[str, Any]) -> bool:
    found: list[bool] = []
    tree_map(lambda value: found.append(value.is_cuda) if isinstance(value, torch.Tensor) else None, (positional, named))
    return any(found)


VARIANTS = {
    variant.name: variant
    for variant in (
        Variant("eager", _eager),
        Variant("compile", _compiled(None)),
        Variant("compile-reduce-overhead", _compiled("reduce-overhead")),
        Variant("cuda-graph", _cuda_graph),
        Variant("cudnn-benchmark", _eager, _cudnn_benchmark, own_thread=True),
        Variant("channels-last", _channels_last),
    )
}
