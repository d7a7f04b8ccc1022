"""What goes in and comes out, where a task cannot have it: said before the exporter trips over it, with the line."""

from __future__ import annotations

import ast
import contextlib
import itertools
import random
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import torch
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.lazy import LazyModuleMixin
from torch.utils._pytree import tree_leaves

from .errors import Refusal
from .graph import dtype_names
from .module_file import ModuleFile, in_order

_GRADIENT_FUNCTIONS = ("autograd.grad", *(f"func.{name}" for name in ("grad", "grad_and_value", "vjp", "jvp", "jacrev", "jacfwd", "hessian")))

#: A tensor of a task has at most so many bytes (docs/task.md).
_most_bytes = 2**40


def refuse_inputs(file: ModuleFile, model: torch.nn.Module, positional: list[Any], named: dict[str, Any]) -> None:
    """Raises Refusal."""
    for tensor in tree_leaves((positional, in_order(model, named))):
        reason = _reason_against(tensor) if isinstance(tensor, torch.Tensor) else None
        if reason:
            raise Refusal(f"{file.place_of_function(file.module.get_inputs)}: get_inputs gives {reason}")


def _reason_against(tensor: torch.Tensor) -> str | None:
    if tensor.layout is not torch.strided:
        return f"a sparse tensor ({str(tensor.layout).removeprefix('torch.')}); a task has dense ones"
    if tensor.dtype not in dtype_names:
        return f"a tensor of {tensor.dtype}, which a task cannot have"
    if _overlaps(tensor):
        return "a tensor whose elements share memory (expanded?), which a task cannot have: use .contiguous()"
    if tensor.numel() * tensor.element_size() > _most_bytes:
        return f"a tensor of {tensor.numel() * tensor.element_size()} bytes; a task's have at most 2^40"
    return None


def _overlaps(tensor: torch.Tensor) -> bool:
    """Whether two indices may mean one element, as src/graph decides it: each stride must pass what lies below it."""
    reach = 1
    for stride, size in sorted((stride, size) for stride, size in zip(tensor.stride(), tensor.shape, strict=True) if size > 1):
        if stride < reach:
            return tensor.numel() > 0
        reach = stride * (size - 1) + reach
    return False


def refuse_leaves(tensors: dict[str, torch.Tensor]) -> None:
    """Parameters, buffers and constants by their name. Raises Refusal."""
    for name, tensor in tensors.items():
        if reason := _reason_against(tensor):
            raise Refusal(f"{name} is {reason}")


@contextlib.contextmanager
def refusing_outputs(file: ModuleFile, model: torch.nn.Module) -> Iterator[None]:
    """Whatever calls the model in this context: Refusal where it returns what a task cannot."""
    hook = model.register_forward_hook(lambda module, inputs, outputs: _refuse_outputs(file, outputs))
    try:
        yield
    finally:
        hook.remove()


def _refuse_outputs(file: ModuleFile, outputs: Any) -> None:
    leaves = tree_leaves(outputs)
    for leaf in leaves:
        if isinstance(leaf, torch.Tensor):
            continue
        kind = type(leaf).__name__
        if leaf is None or isinstance(leaf, (bool, int, float, str, torch.SymInt, torch.SymFloat, torch.SymBool)):
            raise Refusal(f"{file.place_of_forward()}: forward returns a {kind} among its outputs; a task returns tensors")
        place = file.place_of_function(type(leaf))
        raise Refusal(
            f"{place if place != str(file.path) else file.place_of_forward()}: forward returns {kind}, which is neither a "
            "tensor nor a tuple, list or dict of tensors"
        )
    if not leaves:
        raise Refusal(f"{file.place_of_forward()}: forward returns no tensor")


def reason_in_layers(file: ModuleFile, model: torch.nn.Module) -> str | None:
    """What the exporter says of such layers is about its own insides."""
    for path, layer in model.named_modules():
        kind = type(layer).__name__
        if isinstance(layer, LazyModuleMixin) and layer.has_uninitialized_params():
            return (
                f"{_place_of_call(file, kind)}: {path or 'Model'} is a {kind}, whose weights have no sizes before the first "
                "call; a task's have: give it the sizes of its inputs"
            )
        if isinstance(layer, _BatchNorm) and layer.training and layer.track_running_stats and layer.momentum is None:
            return (
                f"{_place_of_call(file, kind)}: {path or 'Model'} is a {kind} with momentum=None: it averages over all "
                "calls and so depends on how many there were, which a task cannot: give it a momentum, or call eval()"
            )
    return None


def _place_of_call(file: ModuleFile, name: str) -> str:
    """Where the file makes a layer of that name, as far as its text shows; else its forward."""
    place = _place_of_first_call(file, lambda called: called.split(".")[-1] == name)
    return place or file.place_of_forward()


@contextlib.contextmanager
def refusing_other_generators(file: ModuleFile, model: torch.nn.Module) -> Iterator[None]:
    """Whatever calls the model in this context: Refusal where it draws from others than torch's generator, whose numbers
    the exporter would freeze, or seeds that one, which a task and a package draw from as it stands."""
    before: dict[str, Any] = {}
    begin = model.register_forward_pre_hook(lambda module, inputs: before.update(_other_generators()))
    end = model.register_forward_hook(lambda module, inputs, outputs: _refuse_draws(file, before))
    seeding = [(torch, "manual_seed"), (torch, "seed"), (torch, "set_rng_state"), (torch.random, "manual_seed"),
               (torch.random, "set_rng_state"), (torch.random, "fork_rng"), (torch.cuda, "manual_seed"),
               (torch.cuda, "manual_seed_all"), (torch.cuda, "set_rng_state")]  # fmt: skip
    with contextlib.ExitStack() as replaced:
        replaced.callback(begin.remove)
        replaced.callback(end.remove)
        for holder, name in seeding:
            replaced.callback(setattr, holder, name, getattr(holder, name))
            setattr(holder, name, _refusing_users(file, getattr(holder, name)))
        yield


def _refusing_users(file: ModuleFile, function: Callable[..., Any]) -> Callable[..., Any]:
    """PyTorch itself may call it."""

    def call(*args: Any, **kwargs: Any) -> Any:
        caller = sys._getframe(1)
        if Path(caller.f_code.co_filename) == file.path:
            place = f"{file.path}:{caller.f_lineno}"
            raise Refusal(f"{place}: forward seeds torch's generator, so that its numbers are no random ones")
        return function(*args, **kwargs)

    return call


def _other_generators() -> dict[str, Any]:
    states: dict[str, Any] = {"random": random.getstate()}
    if numpy := sys.modules.get("numpy"):
        kind, keys, *rest = numpy.random.get_state()
        states["numpy.random"] = (kind, keys.tobytes(), *rest)
    return states


def _refuse_draws(file: ModuleFile, before: dict[str, Any]) -> None:
    for name, state in _other_generators().items():
        if name in before and before[name] != state:
            place = _place_of_use(file, name.rpartition(".")[2]) or file.place_of_forward()
            raise Refusal(f"{place}: forward draws numbers from {name}, which a task cannot repeat: use torch's")


def _place_of_use(file: ModuleFile, name: str) -> str | None:
    """Where forward calls something of a module of this name."""
    return _place_of_first_call(file, lambda called: f"{name}." in called, within="forward")


def place_of_gradient(file: ModuleFile) -> str | None:
    """Where the file asks for gradients by itself."""
    return _place_of_first_call(file, lambda called: called.endswith((".backward", *_GRADIENT_FUNCTIONS)))


def _place_of_first_call(file: ModuleFile, matches: Callable[[str], bool], within: str | None = None) -> str | None:
    """Of something whose text fits, anywhere in the file or in functions of that name."""
    tree = ast.parse(file.source)
    parts: Iterable[ast.AST] = [tree]
    if within:
        parts = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == within)
    for node in itertools.chain.from_iterable(map(ast.walk, parts)):
        if isinstance(node, ast.Call) and matches(ast.unparse(node.func)):
            return f"{file.path}:{node.lineno}"
    return None
