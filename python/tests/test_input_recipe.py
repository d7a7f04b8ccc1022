"""Inputs that are made anew by what a task says of them are such as the module's own `get_inputs` makes."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import Any

import pytest
import torch
from cudal1_bridge.__main__ import main
from cudal1_bridge.graph import dtype_names
from graph_runner import GraphRunner

_dtypes = {name: dtype for dtype, name in dtype_names.items()}


def _drawn(leaf: dict[str, Any]) -> torch.Tensor:
    draw, shape = leaf["draw"], leaf["shape"]
    made = {
        "normal": lambda: torch.randn(shape) * draw["std"] + draw["mean"],
        "uniform": lambda: torch.rand(shape) * (draw["high"] - draw["low"]) + draw["low"],
        "integers": lambda: torch.randint(draw["low"], draw["high"], shape),
        "bernoulli": lambda: torch.full(shape, draw["p"]).bernoulli(),
        "constant": lambda: torch.full(shape, draw["value"]),
    }[draw["kind"]]()
    return made.to(_dtypes[leaf["dtype"]])


def _inputs(path: Path, folder: Path) -> list[torch.Tensor]:
    """Made as a judge makes them."""
    assert main([str(path), "-o", str(folder)]) == 0
    graph = json.loads((folder / "graph.json").read_text())
    recipe = graph.get("input_graph", {"inputs": [], "nodes": [], "outputs": []})
    values: dict[str, Any] = {leaf["name"]: _drawn(leaf) for leaf in recipe.get("inputs", [])}
    for node in recipe["nodes"]:
        GraphRunner.run_node(node, values)
    made = [
        values[recipe["outputs"][leaf["draw"]["output"]]] if leaf["draw"]["kind"] == "computed" else _drawn(leaf)
        for leaf in graph["inputs"]
    ]
    for tensor, leaf in zip(made, graph["inputs"], strict=True):
        assert (tensor.dtype, list(tensor.shape)) == (_dtypes[leaf["dtype"]], leaf["shape"])
    return made


_forward = """
class Model(nn.Module):
    def forward(self, *inputs): return [one * 1 for one in inputs]
"""

# what get_inputs does, and what must hold of what it returns
cases = {
    "a part of a mask is set": ("""
        mask = torch.zeros(4, 8, dtype=torch.bool)
        mask[:, 5:] = True
        return [mask]""", lambda mask: mask[:, 5:].all() and not mask[:, :5].any()),
    "a row of a row is written": ("""
        x = torch.rand(4, 8)
        x[1].mul_(0)
        x[2][3:] = 7
        return [x]""", lambda x: x[1].eq(0).all() and x[2, 3:].eq(7).all() and x[0].lt(1).all()),
    "a view sees what is written elsewhere": ("""
        x = torch.zeros(4, 8)
        flat, turned = x.view(-1), x.t()
        x.fill_diagonal_(3)
        turned[7] = 2
        return [x, flat, turned]""", lambda x, flat, turned: x.view(-1).equal(flat) and x.t().equal(turned)
            and x.diagonal().eq(3).all() and x[:, 7].eq(2).all()),
    "where a condition holds": ("""
        x = torch.randn(4, 8)
        x[x < 0] = 0
        return [x]""", lambda x: x.ge(0).all() and x.eq(0).any() and x.gt(0).any()),
    "in place in the tensor's own dtype": ("""
        x, y = torch.rand(64), torch.rand(4)
        x.ge_(0.5)
        y += torch.ones(4, dtype=torch.float64)
        return [x, y]""", lambda x, y: set(x.tolist()) == {0.0, 1.0} and y.ge(1).all()),
    "into a given tensor": ("""
        x = torch.empty(2, 4)
        torch.add(torch.rand(4), 2, out=x[1])
        x[0] = 5
        return [x]""", lambda x: x[0].eq(5).all() and x[1].ge(2).all() and x[1].le(3).all()),
    "drawn into memory": ("""
        x = torch.zeros(4, 8)
        x[:2].uniform_(2, 3)
        return [x, torch.empty(512).normal_(8, 0.1), nn.init.constant_(torch.empty(3), 4)]""",
        lambda x, y, z: x[:2].ge(2).all() and x[2:].eq(0).all() and abs(y.mean() - 8) < 0.1 and z.eq(4).all()),
    "distributions": ("""
        return [torch.normal(5.0, 0.1, (512,)), torch.randint_like(torch.zeros(64), 3, 5), torch.zeros(64).bernoulli_(0.5)]""",
        lambda x, y, z: abs(x.mean() - 5) < 0.1 and set(y.tolist()) == {3, 4} and set(z.tolist()) == {0, 1}),
    "coins of given chances": ("""
        chances = torch.tensor([0.0, 1.0]).repeat(8)
        return [torch.bernoulli(chances), torch.zeros(16).bernoulli_(chances)]""",
        lambda x, y: x.equal(torch.tensor([0.0, 1.0]).repeat(8)) and y.equal(x)),
    "a permutation": ("return [torch.randperm(64), torch.randperm(64, dtype=torch.int32)]",
        lambda x, y: x.sort()[0].equal(torch.arange(64)) and not x.equal(torch.arange(64)) and not x.equal(y)),
    "no number at all": ("return [torch.tensor([]), torch.rand(2)]", lambda x, y: x.numel() == 0),
}  # fmt: skip


@pytest.mark.parametrize("name", cases)
def test_inputs_are_such_as_get_inputs_makes(name: str, module_file: Any, tmp_path: Path) -> None:
    body, holds = cases[name]
    body = textwrap.indent(textwrap.dedent(body).strip(), "    ")
    path = module_file(f"{_forward}def get_inputs():\n{body}\n")
    assert holds(*_inputs(path, tmp_path / "task"))
