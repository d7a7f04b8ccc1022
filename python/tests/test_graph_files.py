"""What is in graph.json."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from cudal1_bridge.__main__ import main
from cudal1_bridge.random_nodes import seed_of_node
from safetensors.torch import load_file


def _graph(path: Path, folder: Path) -> dict[str, Any]:
    assert main([str(path), "-o", str(folder)]) == 0
    return json.loads((folder / "graph.json").read_text())


def test_names_are_readable_and_batch_norm_declares_its_state(module_file: Any, tmp_path: Path) -> None:
    graph = _graph(
        module_file("""
            class Model(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.bn = nn.BatchNorm1d(4)
                def forward(self, x): return F.relu(self.bn(x)).relu_()
            def get_inputs(): return [torch.rand(2, 4)]
            """),
        tmp_path / "task",
    )
    assert [node["name"] for node in graph["nodes"]] == ["add_1", "batch_norm_1", "relu_1", "relu_2"]
    assert graph["nodes"][1]["writes_state"] == ["bn.running_mean", "bn.running_var"]
    assert {leaf["name"] for leaf in graph["state"]} == {"bn.running_mean", "bn.running_var", "bn.num_batches_tracked"}
    assert graph["nodes"][0]["op"] == "aten::add_.Tensor"
    assert graph["nodes"][0]["writes_state"] == ["bn.num_batches_tracked"]
    assert [leaf["name"] for leaf in graph["weights"]] == ["bn.weight", "bn.bias"]


def test_batch_norm_stays_one_operator_where_the_graph_is_made_plain(module_file: Any, tmp_path: Path) -> None:
    graph = _graph(
        module_file("""
            class Model(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.conv = nn.Conv2d(3, 4, 3)
                    self.bn = nn.BatchNorm2d(4)
                    self.without_state = nn.BatchNorm2d(4, track_running_stats=False)
                    self.fixed = nn.BatchNorm2d(4).eval()
                def forward(self, x):
                    with torch.autocast("cpu", dtype=torch.bfloat16):
                        y = self.bn(self.bn(self.conv(x)))
                    y[:, 0] = self.bn.running_mean[0]
                    return self.fixed(self.without_state(y))
            def get_inputs(): return [torch.rand(2, 3, 5, 5)]
            """),
        tmp_path / "task",
    )
    norms = [node for node in graph["nodes"] if "batch_norm" in node["op"]]
    assert [node["op"] for node in norms] == ["aten::batch_norm"] * 4
    statistics = ["bn.running_mean", "bn.running_var"]
    assert [node.get("writes_state", []) for node in norms] == [statistics, statistics, [], []]
    assert [node["args"][5] for node in norms] == [True, True, True, False]
    written = [node["op"] for node in graph["nodes"] if node.get("writes_state") and node not in norms]
    assert written == ["aten::copy_"]  # the number of batches; statistics are written by the norm


def test_names_that_a_program_cannot_have_are_written_with_underscores(module_file: Any, tmp_path: Path) -> None:
    graph = _graph(
        module_file("""
            class Model(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.größe = nn.Linear(4, 4)
                    self.grüße = nn.ModuleDict({"a-b": nn.Linear(4, 4), "a b": nn.Linear(4, 4)})
                def forward(self, wärme): return self.grüße["a b"](self.grüße["a-b"](self.größe(wärme)))
            def get_inputs(): return [torch.rand(2, 4)]
            """),
        tmp_path / "task",
    )
    weights = {leaf["key"]: leaf["name"] for leaf in graph["weights"]}
    assert weights["größe.weight"] == "gr__e.weight"
    assert {weights["grüße.a-b.weight"], weights["grüße.a b.weight"]} == {"gr__e.a_b.weight", "gr__e.a_b.weight_2"}
    assert graph["inputs"][0]["name"] == "w_rme"
    assert set(load_file(tmp_path / "task" / "weights.safetensors")) == set(weights)


def test_batch_norm_that_averages_over_all_calls_is_none_where_it_does_not_learn(module_file: Any, tmp_path: Path) -> None:
    graph = _graph(
        module_file("""
            class Model(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.bn = nn.BatchNorm1d(4, momentum=None).eval()
                def forward(self, x): return self.bn(x)
            def get_inputs(): return [torch.rand(2, 4)]
            """),
        tmp_path / "task",
    )
    assert [node["op"] for node in graph["nodes"]] == ["aten::batch_norm"]


def test_inputs_that_are_only_drawn_say_how(module_file: Any, tmp_path: Path) -> None:
    graph = _graph(
        module_file("""
            class Model(nn.Module):
                def forward(self, a, b, c, d): return a + b + c + d
            def get_inputs():
                return [torch.rand(2), torch.randn(2), torch.randint(3, 9, (2,)), torch.full((2,), 2.5)]
            """),
        tmp_path / "task",
    )
    assert [leaf["draw"] for leaf in graph["inputs"]] == [
        {"kind": "uniform", "low": 0, "high": 1},
        {"kind": "normal", "mean": 0, "std": 1},
        {"kind": "integers", "low": 3, "high": 9},
        {"kind": "constant", "value": 2.5},
    ]
    assert "input_graph" not in graph


def test_numbers_that_get_inputs_writes_down_are_constants(module_file: Any, tmp_path: Path) -> None:
    graph = _graph(
        module_file("""
            class Model(nn.Module):
                def forward(self, a, b, c, d): return a * b + c * d
            def get_inputs():
                return [torch.tensor(2.0), torch.tensor([True, True]), torch.full((2,), float("inf")), torch.tensor([3, 1])]
            """),
        tmp_path / "task",
    )
    assert [leaf["draw"] for leaf in graph["inputs"]] == [
        {"kind": "constant", "value": 2.0},
        {"kind": "constant", "value": 1},
        {"kind": "computed", "output": 0},
        {"kind": "computed", "output": 1},
    ]
    assert [node["op"] for node in graph["input_graph"]["nodes"]] == [
        "aten::full", "aten::scalar_tensor", "aten::scalar_tensor", "aten::stack", "aten::reshape",
    ]


def test_what_is_computed_from_a_written_number_is_drawn_anew(module_file: Any, tmp_path: Path) -> None:
    graph = _graph(
        module_file("""
            class Model(nn.Module):
                def forward(self, x): return x + 1
            def get_inputs(): return [torch.rand(2) * torch.tensor(3.0)]
            """),
        tmp_path / "task",
    )
    assert [leaf["draw"]["kind"] for leaf in graph["input_graph"]["inputs"]] == ["uniform", "constant"]


def test_the_same_tensor_twice_is_drawn_once(module_file: Any, tmp_path: Path) -> None:
    graph = _graph(
        module_file("""
            class Model(nn.Module):
                def forward(self, x, y): return x + y
            def get_inputs():
                a = torch.rand(2)
                return [a, a]
            """),
        tmp_path / "task",
    )
    assert [leaf["draw"] for leaf in graph["inputs"]] == [{"kind": "computed", "output": 0}] * 2
    assert len(graph["input_graph"]["inputs"]) == 1 and graph["input_graph"]["nodes"] == []


def test_inputs_that_are_computed_bring_their_recipe(module_file: Any, tmp_path: Path) -> None:
    graph = _graph(
        module_file("""
            class Model(nn.Module):
                def forward(self, a, b): return a @ b
            def get_inputs():
                scale = torch.rand(())
                return [torch.triu(torch.rand(4, 4) * scale), torch.randn(4, 4)]
            """),
        tmp_path / "task",
    )
    assert graph["inputs"][0]["draw"] == {"kind": "computed", "output": 0}
    assert graph["inputs"][1]["draw"]["kind"] == "normal"
    recipe = graph["input_graph"]
    assert [leaf["name"] for leaf in recipe["inputs"]] == ["rand_1", "rand_2"]
    assert [node["op"] for node in recipe["nodes"]] == ["aten::mul.Tensor", "aten::triu"]
    assert recipe["outputs"] == ["triu_1"]


def test_a_task_holds_its_source(module_file: Any, tmp_path: Path) -> None:
    path = module_file("""
        class Model(nn.Module):
            def forward(self, x): return x + 1
        def get_inputs(): return [torch.rand(2)]
        """)
    _graph(path, tmp_path / "task")
    assert (tmp_path / "task" / "source.py").read_text() == path.read_text()


def test_a_task_lists_the_neighbours_that_its_module_imports(module_file: Any, tmp_path: Path) -> None:
    neighbour = tmp_path / "a_neighbour_of_the_module.py"
    neighbour.write_text("width = 3")
    path = module_file("""
        from a_neighbour_of_the_module import width
        class Model(nn.Module):
            def forward(self, x): return x + width
        def get_inputs(): return [torch.rand(width)]
        """)
    assert _graph(path, tmp_path / "task")["inputs"][0]["shape"] == [3]
    imports = json.loads((tmp_path / "task" / "imports.json").read_text())
    assert list(imports) == [str(neighbour.resolve())]


def test_inputs_that_depend_on_each_other_stay_together(module_file: Any, tmp_path: Path) -> None:
    graph = _graph(
        module_file("""
            class Model(nn.Module):
                def forward(self, a, b, c): return a + b + c
            def get_inputs():
                a = torch.rand(4)
                return [a, a * 2, torch.rand(4)]
            """),
        tmp_path / "task",
    )
    assert [leaf["draw"] for leaf in graph["inputs"][:2]] == [
        {"kind": "computed", "output": 0},
        {"kind": "computed", "output": 1},
    ]
    assert graph["inputs"][2]["draw"]["kind"] == "uniform"
    assert graph["input_graph"]["outputs"] == ["rand_1", "mul_1"]


def test_fresh_weights_are_those_of_another_construction(module_file: Any, tmp_path: Path) -> None:
    _graph(
        module_file("""
            class Model(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.fc = nn.Linear(4, 4)
                    self.register_buffer("mask", torch.tril(torch.ones(4, 4)))
                def forward(self, x): return self.fc(x) * self.mask
            def get_inputs(): return [torch.rand(4, 4)]
            """),
        tmp_path / "task",
    )
    first, fresh = (load_file(tmp_path / "task" / name) for name in ("weights.safetensors", "fresh_weights.safetensors"))
    assert not torch.equal(first["fc.weight"], fresh["fc.weight"])
    assert torch.equal(first["mask"], fresh["mask"])


def test_tasks_whose_outputs_plainly_ignore_the_inputs_are_marked(module_file: Any, tmp_path: Path) -> None:
    forwards = {
        "ignores": ("torch.zeros_like(x) + self.w", True),
        "uses": ("x * 0 + self.w", False),  # whether that is the same for all inputs, the judge finds out
        "through_state": ("self.count.add_(x.sum()) + self.w", False),
    }
    for name, (forward, marked) in forwards.items():
        body = f"""
            class Model(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.w = nn.Parameter(torch.ones(2))
                    self.register_buffer("count", torch.zeros(()))
                def forward(self, x): return {forward}
            def get_inputs(): return [torch.rand(2)]
            """
        graph = _graph(module_file(body, f"{name}.py"), tmp_path / name)
        assert graph.get("degenerate", False) is marked, name


def test_a_dropout_gives_its_value_and_its_mask(module_file: Any, tmp_path: Path) -> None:
    graph = _graph(
        module_file("""
            class Model(nn.Module):
                def forward(self, x): return F.dropout(F.dropout(x, 0.25), 0.5, training=False)
            def get_inputs(): return [torch.rand(2)]
            """),
        tmp_path / "task",
    )
    assert graph["nodes"][0] == {"name": "native_dropout_1", "op": "aten::native_dropout", "args": ["x", 0.25, True]}
    assert graph["nodes"][1]["op"] == "aten::dropout"


def test_seeds_of_nodes_are_those_of_the_executor() -> None:  # tests/graph/random_nodes_test.cpp has the same numbers
    assert seed_of_node("native_dropout_1") == 1846825963892192421
    assert seed_of_node("") == 0xCBF29CE484222325 >> 1


def test_what_is_too_large_to_be_tried_is_declared(module_file: Any, tmp_path: Path) -> None:
    body = """
        class Model(nn.Module):
            def forward(self, x, y): return F.relu(x), torch.max(x, dim=0), F.relu(y)
        def get_inputs(): return [torch.rand(20000, 20000).t(), torch.rand(2)]
        """
    nodes = _graph(module_file(body), tmp_path / "task")["nodes"]
    large = {"shape": [20000, 20000], "strides": [1, 20000], "dtype": "f32"}
    assert nodes[0]["outputs"] == [large]
    assert [output["dtype"] for output in nodes[1]["outputs"]] == ["f32", "i64"]
    assert "outputs" not in nodes[2]


def test_a_module_may_lie_in_the_current_folder(module_file: Any, tmp_path: Path, monkeypatch: Any) -> None:
    path = module_file("""
        class Model(nn.Module):
            def forward(self, x): return x + 1
        def get_inputs(): return [torch.rand(3)]
        """)
    monkeypatch.chdir(tmp_path)
    _graph(path, tmp_path / "task")
    assert json.loads((tmp_path / "task" / "imports.json").read_text()) == {}


def test_a_default_dtype_that_the_module_sets_is_written_down(module_file: Any, tmp_path: Path) -> None:
    path = module_file("""
        torch.set_default_dtype(torch.bfloat16)
        class Model(nn.Module):
            def forward(self, x): return x * torch.ones(8) + torch.arange(8)
        def get_inputs(): return [torch.randn(4, 8)]
        """)
    try:
        graph = _graph(path, tmp_path / "task")
    finally:
        torch.set_default_dtype(torch.float32)
    ones, arange = (next(node for node in graph["nodes"] if node["op"] == op) for op in ("aten::ones", "aten::arange"))
    assert ones["kwargs"]["dtype"]["dtype"] == "bf16" and "dtype" not in arange.get("kwargs", {})


def test_a_convolution_without_a_batch_has_a_batch_of_one(module_file: Any, tmp_path: Path) -> None:
    graph = _graph(
        module_file("""
            class Model(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.conv = nn.Conv2d(3, 4, 3)
                def forward(self, x): return self.conv(x)
            def get_inputs(): return [torch.rand(3, 6, 6)]
            """),
        tmp_path / "task",
    )
    assert [node["op"] for node in graph["nodes"]] == ["aten::unsqueeze", "aten::conv2d", "aten::squeeze.dim"]
