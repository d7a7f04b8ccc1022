"""The module itself, run on what somebody else chose."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from cudal1_bridge import eager
from cudal1_bridge.__main__ import main
from cudal1_bridge.safetensors_file import load_tensors, save_tensors

_module = """
    class Model(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.fc = nn.Linear(width, 2)
            self.bn = nn.BatchNorm1d(2, momentum=1.0)
            self.shift = torch.ones(2)
        def forward(self, x, scale, flip):
            y = self.bn(self.fc(x)) * scale + self.shift
            return (y.flip(0) if flip else y), {"raw": x.t()}
    def get_init_inputs(): return [3]
    def get_inputs(): return [torch.randn(3, 4).t(), 2.0, True]
    """


def _run(path: Path, folder: Path, x: torch.Tensor) -> dict[str, torch.Tensor]:
    inputs, outputs = folder.parent / "inputs", folder.parent / "outputs"
    save_tensors({"x": x}, inputs)
    assert eager.main([str(path), "--task", str(folder), "--inputs", str(inputs), "-o", str(outputs)]) == 0
    return load_tensors(outputs)


def test_it_runs_on_the_given_inputs_and_the_tasks_weights(module_file: Any, tmp_path: Path) -> None:
    path = module_file(_module)
    assert main([str(path), "-o", str(tmp_path / "task"), "--seed", "7"]) == 0
    x = torch.randn(4, 3)
    got = _run(path, tmp_path / "task", x)
    weights = load_tensors(tmp_path / "task" / "weights.safetensors")
    hidden = x @ weights["fc.weight"].t() + weights["fc.bias"]
    normal = torch.nn.functional.batch_norm(hidden, None, None, weights["bn.weight"], weights["bn.bias"], training=True)
    torch.testing.assert_close(got["0"], (normal * 2 + 1).flip(0), rtol=1e-5, atol=1e-5)
    assert torch.equal(got["1"], x.t())
    torch.testing.assert_close(got["state/bn.running_mean"], hidden.mean(0), rtol=1e-5, atol=1e-6)
    assert got["state/bn.num_batches_tracked"].item() == 1


def test_parameters_that_calls_write_are_put_back_before_the_one_that_counts(module_file: Any, tmp_path: Path) -> None:
    path = module_file("""
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.table = nn.Embedding(8, 4, max_norm=0.1)
            def forward(self, x): return self.table(x) * 2
        def get_inputs(): return [torch.arange(8)]
        """)
    assert main([str(path), "-o", str(tmp_path / "task")]) == 0
    before = load_tensors(tmp_path / "task" / "weights.safetensors")["table.weight"]
    after = _run(path, tmp_path / "task", torch.tensor([3] * 8))["state/table.weight"]
    changed = (before != after).any(dim=1)
    assert changed.tolist() == [row == 3 for row in range(8)]


def test_strides_of_inputs_are_the_tasks(module_file: Any, tmp_path: Path) -> None:
    path = module_file("""
        class Model(nn.Module):
            def forward(self, x): return torch.tensor(x.stride())
        def get_inputs(): return [torch.randn(3, 4).t()]
        """)
    task = tmp_path / "task"
    task.mkdir()
    (task / "graph.json").write_text('{"inputs": [{"name": "x", "strides": [1, 4]}], "nodes": []}')
    assert _run(path, task, torch.randn(4, 3))["0"].tolist() == [1, 4]


def test_a_failing_forward_is_one_line(module_file: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = module_file("""
        class Model(nn.Module):
            def forward(self, x): raise ValueError("not today\\nnor tomorrow")
        def get_inputs(): return [torch.randn(2)]
        """)
    (tmp_path / "graph.json").write_text('{"inputs": [{"name": "x"}], "nodes": []}')
    save_tensors({"x": torch.zeros(2)}, tmp_path / "inputs")
    arguments = [str(path), "--task", str(tmp_path), "--inputs", str(tmp_path / "inputs"), "-o", str(tmp_path / "out")]
    assert eager.main(arguments) == 1
    assert capsys.readouterr().err == f"cudal1: {path}:7: forward raises ValueError: not today\n"


def test_tensors_of_all_dtypes_come_back(tmp_path: Path) -> None:
    tensors = {
        "bytes": torch.tensor([1, 2, 3], dtype=torch.uint8),
        "doubles": torch.tensor([[1.5, -2.0]], dtype=torch.float64),
        "flags": torch.tensor([True, False]),
        "half": torch.tensor(2.5, dtype=torch.float16),
        "none": torch.empty(0, 3),
    }
    save_tensors(tensors, tmp_path / "file")
    for key, tensor in load_tensors(tmp_path / "file").items():
        assert tensor.dtype == tensors[key].dtype and torch.equal(tensor, tensors[key])
