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
from .naming import Names, identities, operator_name, plain_form

aten = torch.ops.aten
_most_literals = 1024


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


class Recorder(TorchDispatchMode):
    """Remembers which calls made which tensor while it is active."""

    def __init__(self) -> None:
        super().__init__()
        self.recipe = InputRecipe()
        self._names = Names()
        self.literals: list[torch.Tensor] = []  #: what came from elsewhere, as torch.tensor(2.0) does
        self.lacks_contents = False  #: there were some whose numbers cannot be seen on this device
        self._values: dict[int, str] = {}
        self._kept: list[torch.Tensor] = []  # an identity is one only as long as the tensor lives

    def value_of(self, tensor: torch.Tensor) -> str:
        return self._values[id(tensor)]

    def adopt(self, parts: Iterable[Any]) -> None:
        """Tensors that no call made hold numbers of their own, which become part of the recipe."""
        for part in parts:
            if isinstance(part, torch.Tensor) and id(part) not in self._values:
                self._add_literal(part)

    def __torch_dispatch__(self, target: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        draw = _draw_of_call(target, args, kwargs)
        if draw is None:
            self.adopt(tree_leaves((args, kwargs)))  # before a call that may write them
        result = target(*args, **kwargs)
        if draw is not None:
            self._add_leaf(target, result, draw)
        elif target in identities:
            self._remember(result, self.value_of(args[0]))
        else:
            self._add_node(target, args, kwargs, result)
        return result

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
        if len(set(numbers)) == 1 and _is_drawable(numbers[0]):
            self._add_leaf(aten.full.default, tensor, {"kind": "constant", "value": numbers[0] + 0})
            return
        names = {number: self._node(aten.scalar_tensor.default, [number], {"dtype": tensor.dtype}) for number in numbers}
        stacked = self._node(aten.stack.default, [[ValueName(names[number]) for number in numbers]])
        self._remember(tensor, self._node(aten.reshape.default, [ValueName(stacked), list(tensor.shape)]))

    def _node(self, target: Any, args: list[Any], kwargs: dict[str, Any] | None = None) -> str:
        name = self._names.of_node(target)
        self.recipe.nodes.append(Node(name, operator_name(target), args, kwargs or {}))
        return name

    def _add_leaf(self, target: Any, result: torch.Tensor, draw: dict[str, Any]) -> None:
        name = self._names.of_node(target)
        self.recipe.leaves.append(Leaf.like(name, result, {"draw": draw}))
        self._remember(result, name)

    def _add_node(self, target: Any, args: Any, kwargs: Any, result: Any) -> None:
        plain = plain_form(target) if target._schema.is_mutable else target
        if plain is None:
            raise BridgeError(f"get_inputs calls {operator_name(target)}, which has no plain form")
        if torch.Tag.nondeterministic_seeded in target.tags:
            raise BridgeError(f"get_inputs calls {operator_name(target)}, a draw that is not known")
        name = self._names.of_node(plain)
        self.recipe.nodes.append(Node(name, operator_name(plain), self._named(args), self._named(kwargs)))
        results = result if isinstance(result, (list, tuple)) else [result]
        for i, tensor in enumerate(results):
            if isinstance(tensor, torch.Tensor):
                self._remember(tensor, name if i == 0 else f"{name}[{i}]")

    def _named(self, arguments: Any) -> Any:
        return tree_map(lambda a: ValueName(self._values[id(a)]) if isinstance(a, torch.Tensor) else a, arguments)

    def _remember(self, tensor: torch.Tensor, name: str) -> None:
        self._kept.append(tensor)
        self._values[id(tensor)] = name


def _is_drawable(number: Any) -> bool:
    """Constants are drawn as doubles."""
    return math.isfinite(number) and float(number) == number


def _draw_of_call(target: Any, args: Any, kwargs: Any) -> dict[str, Any] | None:
    packet = target.overloadpacket
    if packet in (aten.rand, aten.rand_like):
        return {"kind": "uniform", "low": 0, "high": 1}
    if packet in (aten.randn, aten.randn_like):
        return {"kind": "normal", "mean": 0, "std": 1}
    if packet is aten.randint:
        low, high = (args[0], args[1]) if target is aten.randint.low else (0, args[0])
        return {"kind": "integers", "low": low, "high": high}
    if packet in (aten.ones, aten.ones_like):
        return {"kind": "constant", "value": 1}
    if packet in (aten.zeros, aten.zeros_like):
        return {"kind": "constant", "value": 0}
    if packet is aten.full and _is_drawable(args[1]):
        return {"kind": "constant", "value": args[1] + 0}  # a number, where it is True
    return None
