"""Whether a task's outputs depend on its inputs at all. Where they plainly do not, the task is degenerate; where they
only turn out to be the same for all inputs, the judge finds out by running it."""

from __future__ import annotations

import re
from typing import Any

from torch.utils._pytree import tree_leaves

from .graph import Leaf, Node, ValueName

# They take a tensor for its size alone.
_reads_sizes = re.compile(r"aten::(\w+_like|new_\w+)(\..*)?")


def depends_on_inputs(inputs: list[Leaf], nodes: list[Node], outputs: list[str]) -> bool:
    """Does a value reach any output from any input?"""
    reached = {leaf.name for leaf in inputs}
    for node in nodes:
        if _reads_sizes.fullmatch(node.op) is None and _values_read(node) & reached:
            reached |= {node.name, *node.writes_state}
    return any(_stem(output) in reached for output in outputs)


def _values_read(node: Node) -> set[str]:
    parts: list[Any] = tree_leaves((node.args, node.kwargs))
    return {_stem(part.text) for part in parts if isinstance(part, ValueName)}


def _stem(value: str) -> str:
    return value.partition("[")[0]
