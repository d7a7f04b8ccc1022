"""Names that stay readable, because programs refer to them: linear_1, gelu_1, softmax_2."""

from __future__ import annotations

import collections
import re

import torch

# The same value under another name: there is no gradient to keep away from.
identities = {getattr(torch.ops.aten, name).default for name in ("detach", "detach_", "alias", "lift_fresh")}


class Names:
    """Gives out names, each once."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._counts: collections.Counter[str] = collections.Counter()

    def take(self, wanted: str) -> str:
        """This name, or one like it."""
        name, number = wanted, 1
        while name in self._taken:
            number += 1
            name = f"{wanted}_{number}"
        self._taken.add(name)
        return name

    def of_node(self, operator: torch._ops.OpOverload) -> str:
        stem = operator.overloadpacket.__name__.strip("_")
        while True:
            self._counts[stem] += 1
            name = f"{stem}_{self._counts[stem]}"
            if name not in self._taken:
                return self.take(name)


def identifier(text: str) -> str:
    """Letters, digits and underscores, no digit first."""
    cleaned = re.sub(r"\W", "_", text, flags=re.ASCII) or "input"
    return f"_{cleaned}" if cleaned[0].isdigit() else cleaned


def name_of_path(path: str) -> str:
    """Of a parameter or buffer: Python takes letters in its names, and any text in those of a ModuleDict, that a
    program cannot have in its own."""
    return re.sub(r"[^\w.]", "_", path, flags=re.ASCII)


def operator_name(operator: torch._ops.OpOverload) -> str:
    """aten::softmax.int; the default overload has no suffix."""
    return operator.name()


def plain_form(operator: torch._ops.OpOverload) -> torch._ops.OpOverload | None:
    """relu for relu_, if there is one of the same overload."""
    packet = getattr(torch.ops.aten, operator.overloadpacket.__name__.removesuffix("_"), None)
    return getattr(packet, operator._overloadname, None) if packet else None


def form_without_out(operator: torch._ops.OpOverload) -> torch._ops.OpOverload | None:
    """aten.div.Tensor for aten.div.out."""
    wanted = _arguments(operator)
    overloads = (getattr(operator.overloadpacket, name) for name in operator.overloadpacket.overloads())
    return next((other for other in overloads if not other._schema.is_mutable and _arguments(other) == wanted), None)


def _arguments(operator: torch._ops.OpOverload) -> list[tuple[str, str]]:
    return [(argument.name, str(argument.type)) for argument in operator._schema.arguments if not argument.is_out]
