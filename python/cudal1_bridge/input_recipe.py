"""How `get_inputs` makes its tensors, as data: its calls of ATen are recorded, so that a judge can make such inputs
under its own seeds, on any device, without Python."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes
from torch.utils._pytree import tree_leaves, tree_map

from .errors import BridgeError
from .graph import Leaf, Node, ValueName
from .naming import Names, form_without_out, identities, operator_name, plain_form
from .random_forms import arguments_by_name

aten = torch.ops.aten
_most_literals = 1024
_UNIFORM = {"kind": "uniform", "low": 0, "high": 1}


@dataclass
class InputRecipe:
    """Leaves that are drawn, what is computed from them, and the value that every tensor is."""

    leaves: list[Leaf] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)

    def draw_of(self, value: str) -> dict[str, Any] | None:
        """For a tensor that is nothing but drawn."""
        return next((leaf.source["draw"] for leaf in self.leaves if leaf.name == value), None)

    def needed_for(self, outputs: list[str]) -> InputRecipe:
        """Without what these values do not depend on."""
        needed = {_stem(value) for value in outputs}
        nodes: list[Node] = []
        for node in reversed(self.nodes):
            if node.name in needed:
                nodes.append(node)
                needed |= {_stem(part.text) for part in tree_leaves((node.args, node.kwargs)) if _is_value(part)}
        return InputRecipe([leaf for leaf in self.leaves if leaf.name in needed], nodes[::-1])


def _is_value(part: Any) -> bool:
    return isinstance(part, ValueName)


def _stem(value: str) -> str:
    return value.partition("[")[0]


@dataclass
class _Memory:
    """What tensors share: the first of them stands for all of it."""

    first: torch.Tensor
    writes: int = 0


class Recorder(TorchDispatchMode):
    """Remembers which calls made which tensor while it is active."""

    def __init__(self) -> None:
        super().__init__()
        self.recipe = InputRecipe()
        self._names = Names()
        self.literals: list[torch.Tensor] = []  #: what came from elsewhere, as torch.tensor(2.0) does
        self.lacks_contents = False  #: there were some whose numbers cannot be seen on this device
        self._values: dict[int, tuple[str, int]] = {}  # a name, and how often its memory had been written then
        self._memories: dict[int, _Memory] = {}
        self._kept: list[torch.Tensor] = []  # an identity is one only as long as the tensor lives

    def value_of(self, tensor: torch.Tensor) -> str:
        name, writes = self._values[id(tensor)]
        memory = self._memory_of(tensor)
        if writes != memory.writes:  # through another tensor
            name = self.value_of(memory.first)
            if not _is_all_of(memory, tensor):
                name = self._node(aten.as_strided.default, [ValueName(name), *_place_in(memory, tensor)])
            self._remember(tensor, name)
        return name

    def adopt(self, parts: Iterable[Any]) -> None:
        """Tensors that no call made hold numbers of their own, which become part of the recipe."""
        for part in parts:
            if isinstance(part, torch.Tensor) and id(part) not in self._values:
                self._add_literal(part)

    def __torch_dispatch__(self, target: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        draw = _draw_of_call(target, args, kwargs)
        self.adopt(tree_leaves((args, kwargs)))  # before a call that may write them
        result = target(*args, **kwargs)
        if draw is not None:
            self._add_draw(target, result, draw)
        elif target is aten.randperm.default:
            self._add_permutation(result)
        elif target in (aten.bernoulli.default, aten.bernoulli_.Tensor):
            self._add_coins(target, args[-1], result)
        elif target in identities:
            self._remember(result, self.value_of(args[0]))
        else:
            self._add_node(target, args, kwargs, result)
        return result

    def _add_draw(self, target: Any, result: torch.Tensor, draw: dict[str, Any]) -> None:
        name = self._leaf(target, result, draw)
        self._write(result, name) if target._schema.is_mutable else self._remember(result, name)

    def _add_permutation(self, result: torch.Tensor) -> None:
        drawn = self._uniform(list(result.shape), torch.float32)
        order = self._node(aten.argsort.stable, [ValueName(drawn)], {"stable": True})
        self._remember(result, self._node(aten.to.dtype, [ValueName(order), result.dtype]))

    def _add_coins(self, target: Any, chances: torch.Tensor, result: torch.Tensor) -> None:
        drawn = self._uniform(list(chances.shape), chances.dtype)
        heads = self._node(aten.lt.Tensor, [ValueName(drawn), ValueName(self.value_of(chances))])
        name = self._node(aten.to.dtype, [ValueName(heads), result.dtype])
        self._write(result, name) if target._schema.is_mutable else self._remember(result, name)

    def _uniform(self, shape: list[int], dtype: torch.dtype) -> str:
        return self._leaf(aten.rand.default, torch.empty(shape, dtype=dtype, device="meta"), _UNIFORM)

    def _add_literal(self, tensor: torch.Tensor) -> None:
        """Nodes for its numbers, each once; one that is the same everywhere is drawn as a constant."""
        if tensor.is_meta:
            self.lacks_contents = True
            self._remember(tensor, self._names.take("unknown"))
            return
        if tensor.layout is not torch.strided or tensor.numel() > _most_literals:
            raise BridgeError(
                f"get_inputs gives, or computes with, a tensor of {tuple(tensor.shape)} that is not made by torch; a task "
                f"holds at most {_most_literals} numbers of an input's own"
            )
        with _disable_current_modes():
            self.literals.append(tensor.detach().clone())
            numbers = tensor.detach().reshape(-1).tolist()
        if len(set(numbers)) <= 1 and all(map(_is_drawable, numbers)):
            constant = numbers[0] + 0 if numbers else 0
            self._remember(tensor, self._leaf(aten.full.default, tensor, {"kind": "constant", "value": constant}))
            return
        names = {number: self._node(aten.scalar_tensor.default, [number], {"dtype": tensor.dtype}) for number in numbers}
        stacked = self._node(aten.stack.default, [[ValueName(names[number]) for number in numbers]])
        self._remember(tensor, self._node(aten.reshape.default, [ValueName(stacked), list(tensor.shape)]))

    def _node(self, target: Any, args: list[Any], kwargs: dict[str, Any] | None = None) -> str:
        name = self._names.of_node(target)
        self.recipe.nodes.append(Node(name, operator_name(target), args, kwargs or {}))
        return name

    def _leaf(self, target: Any, result: torch.Tensor, draw: dict[str, Any]) -> str:
        name = self._names.of_node(target)
        self.recipe.leaves.append(Leaf.like(name, result, {"draw": draw}))
        return name

    def _add_node(self, target: Any, args: Any, kwargs: Any, result: Any) -> None:
        plain, kwargs = _without_writes(target, kwargs)
        if plain is None:
            raise BridgeError(f"get_inputs calls {operator_name(target)}, which has no plain form")
        if torch.Tag.nondeterministic_seeded in target.tags:
            raise BridgeError(f"get_inputs calls {operator_name(target)}, a draw that is not known: use torch.rand or randn")
        name = self._node(plain, self._named(args), self._named(kwargs))
        for i, tensor in enumerate(result if isinstance(result, (list, tuple)) else [result]):
            if isinstance(tensor, torch.Tensor):
                value = name if i == 0 else f"{name}[{i}]"
                self._remember(tensor, value) if plain is target else self._write(tensor, self._in_dtype_of(tensor, value))

    def _in_dtype_of(self, tensor: torch.Tensor, value: str) -> str:
        """What is written keeps its dtype, where the plain form may promote, or gives booleans."""
        return self._node(aten.to.dtype, [ValueName(value), tensor.dtype])

    def _write(self, tensor: torch.Tensor, name: str) -> None:
        """From now on this is what the tensor holds, and what others see that share its memory."""
        memory, whole = self._memory_of(tensor), name
        if not _is_all_of(memory, tensor):
            values = [ValueName(self.value_of(memory.first)), ValueName(name)]
            whole = self._node(aten.as_strided_scatter.default, [*values, *_place_in(memory, tensor)])
        memory.writes += 1
        self._remember(memory.first, whole)
        self._remember(tensor, name)

    def _named(self, arguments: Any) -> Any:
        return tree_map(lambda a: ValueName(self.value_of(a)) if isinstance(a, torch.Tensor) else a, arguments)

    def _remember(self, tensor: torch.Tensor, name: str) -> None:
        if tensor.dtype.is_complex:
            raise BridgeError(f"get_inputs computes with {tensor.dtype}, which a task cannot have")
        self._kept.append(tensor)
        self._values[id(tensor)] = (name, self._memory_of(tensor).writes)

    def _memory_of(self, tensor: torch.Tensor) -> _Memory:
        key = tensor.untyped_storage()._cdata if tensor.layout is torch.strided else id(tensor)
        return self._memories.setdefault(key, _Memory(tensor))


def _is_all_of(memory: _Memory, tensor: torch.Tensor) -> bool:
    one, other = ((t.dtype, t.shape, t.stride(), t.storage_offset()) for t in (memory.first, tensor))
    return one == other


def _place_in(memory: _Memory, tensor: torch.Tensor) -> list[Any]:
    """Sizes, strides and offset in the first tensor of this memory. Raises BridgeError."""
    first = memory.first
    offset = tensor.storage_offset() - first.storage_offset()
    end = offset + sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
    if first.dtype != tensor.dtype or offset < 0 or end >= max(first.numel(), 1):
        raise BridgeError("get_inputs writes memory that tensors of several kinds share: use .clone()")
    return [list(tensor.shape), list(tensor.stride()), offset]


def _without_writes(target: Any, kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The operator that gives what this one writes, and its arguments by name."""
    if not target._schema.is_mutable:
        return target, kwargs
    out = [argument.name for argument in target._schema.arguments if argument.is_out]
    plain = form_without_out(target) if out else plain_form(target)
    return plain, {name: value for name, value in kwargs.items() if name not in out}


def _is_drawable(number: Any) -> bool:
    """Constants are drawn as doubles."""
    return math.isfinite(number) and float(number) == number


def _draw_of_call(target: Any, args: Any, kwargs: Any) -> dict[str, Any] | None:
    packet = target.overloadpacket
    if packet in (aten.rand, aten.rand_like):
        return _UNIFORM
    if packet in (aten.randn, aten.randn_like):
        return {"kind": "normal", "mean": 0, "std": 1}
    if packet is aten.randint:
        low, high = (args[0], args[1]) if target is aten.randint.low else (0, args[0])
        return {"kind": "integers", "low": low, "high": high}
    if target in (aten.randint_like.default, aten.randint_like.low_dtype):
        return {"kind": "integers", "low": args[1] if len(args) > 2 else 0, "high": args[-1]}
    if packet in (aten.ones, aten.ones_like):
        return {"kind": "constant", "value": 1}
    if packet in (aten.zeros, aten.zeros_like):
        return {"kind": "constant", "value": 0}
    if target in (aten.uniform_.default, aten.normal_.default, aten.normal.float_float, aten.bernoulli_.float):
        return _draw_of_distribution(target, args, kwargs)
    if packet is aten.full and _is_drawable(args[1]):
        return {"kind": "constant", "value": args[1] + 0}  # a number, where it is True
    return None


def _draw_of_distribution(target: Any, args: Any, kwargs: Any) -> dict[str, Any]:
    given = arguments_by_name(target, args, kwargs)
    if target is aten.uniform_.default:
        return {"kind": "uniform", "low": given["from"], "high": given["to"]}
    if target is aten.bernoulli_.float:
        return {"kind": "bernoulli", "p": given["p"]}
    return {"kind": "normal", "mean": given["mean"], "std": given["std"]}
