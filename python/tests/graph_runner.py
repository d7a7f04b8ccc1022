"""Runs a written task the slow, obvious way: what the bridge writes must compute what the module computes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from cudal1_bridge.__main__ import main
from cudal1_bridge.graph import dtype_names
from cudal1_bridge.module_file import load_module_file
from cudal1_bridge.random_nodes import seed_of_node, seeded_draws
from safetensors.torch import load_file
from torch.utils._pytree import tree_leaves

_dtypes = {name: dtype for dtype, name in dtype_names.items()}


class GraphRunner:
    def __init__(self, folder: Path) -> None:
        self.graph = json.loads((folder / "graph.json").read_text())
        file = folder / "weights.safetensors"
        self._stored = load_file(file) if file.exists() else {}

    def run(self, inputs: list[torch.Tensor]) -> tuple[list[torch.Tensor], dict[str, torch.Tensor]]:
        """Outputs, and the state after the call."""
        values: dict[str, Any] = dict(zip((leaf["name"] for leaf in self.graph["inputs"]), inputs, strict=True))
        for leaf in self.graph.get("weights", []) + self.graph.get("state", []):
            values[leaf["name"]] = self._stored[leaf["key"]].clone()
        for node in self.graph["nodes"]:
            self.run_node(node, values)
        outputs = [values[name] for name in self.graph["outputs"]]
        return outputs, {leaf["name"]: values[leaf["name"]] for leaf in self.graph.get("state", [])}

    @staticmethod
    def run_node(node: dict[str, Any], values: dict[str, Any]) -> None:
        packet, _, overload = node["op"].removeprefix("aten::").partition(".")
        operator = getattr(getattr(torch.ops.aten, packet), overload or "default")
        arguments = [_argument(a, values) for a in node["args"]]
        named = {key: _argument(a, values) for key, a in node.get("kwargs", {}).items()}
        if torch.Tag.nondeterministic_seeded in operator.tags:
            torch.manual_seed(seed_of_node(node["name"]))
        result = operator(*arguments, **named)
        results = result if isinstance(result, (list, tuple)) else [result]
        for i, tensor in enumerate(results):
            values[node["name"] if i == 0 else f"{node['name']}[{i}]"] = tensor


def _argument(json_value: Any, values: dict[str, Any]) -> Any:
    if isinstance(json_value, str):
        return values[json_value]
    if isinstance(json_value, list):
        return [_argument(element, values) for element in json_value]
    if not isinstance(json_value, dict):
        return json_value
    if "float" in json_value:
        return float(json_value["float"])
    if "dtype" in json_value:
        return _dtypes[json_value["dtype"]]
    text = json_value["string"]
    return getattr(torch, text) if text in ("contiguous_format", "preserve_format", "channels_last") else text


def expect_same_results(path: Path, task: Path) -> GraphRunner:
    """A module and the task that is made of it give the same outputs and leave the same state behind."""
    assert main([str(path), "-o", str(task), "--seed", "5"]) == 0
    runner, file = GraphRunner(task), load_module_file(path)
    model = file.make_model(5, "cpu")
    positional, named = file.make_inputs(11, "cpu")
    given = [*positional, *(named[leaf["name"]] for leaf in runner.graph["inputs"] if leaf["name"] in named)]
    outputs, state = runner.run([tensor.clone() if isinstance(tensor, torch.Tensor) else tensor for tensor in given])
    with torch.no_grad(), seeded_draws(runner.graph):
        expected = tree_leaves(model(*positional, **named))
    for output, wanted in zip(outputs, expected, strict=True):
        torch.testing.assert_close(output, wanted, rtol=1e-5, atol=1e-6, equal_nan=True)
    buffers = dict(model.named_buffers())
    for key, tensor in state.items():
        torch.testing.assert_close(tensor, buffers[key], rtol=0, atol=0)
    return runner
