"""What forward changes in Python: refused where it matters to later calls, not where it does not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from cudal1_bridge import eager
from cudal1_bridge.__main__ import main
from cudal1_bridge.safetensors_file import save_tensors

_inputs = """
    def get_inputs(): return [torch.rand(3, 4)]
"""

#: module, and what is said about it
refused = {
    "a counter": ("""
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.count = 0
        def forward(self, x):
            self.count += 1
            return x * self.count""", "module.py:11: forward changes self.count"),
    "a counter of a part": ("""
    class Part(nn.Module):
        count = 0
        def forward(self, x):
            self.count += 1
            return x * self.count
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.part = Part()
        def forward(self, x): return self.part(x)""", "module.py:9: forward changes self.part.count"),
    "a list that grows": ("""
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.seen = []
        def forward(self, x):
            self.seen.append(1)
            return x * len(self.seen)""", "module.py:11: forward changes self.seen"),
    "a tensor in place": ("""
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.sum = torch.zeros(3, 4)
        def forward(self, x):
            self.sum.add_(x)
            return self.sum * 2""", "module.py:11: forward writes self.sum, which is no buffer"),
    "a part of a tensor in place": ("""
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.sum = torch.zeros(3, 4)
        def forward(self, x):
            self.sum[0] += x[0]
            return self.sum * 2""", "module.py:11: forward writes self.sum, which is no buffer"),
    "the first input": ("""
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = None
        def forward(self, x):
            if self.first is None:
                self.first = x
            return x + self.first""", "module.py:12: forward changes self.first"),
    "a global": ("""
    calls = 0
    class Model(nn.Module):
        def forward(self, x):
            global calls
            calls += 1
            return x * calls""", "module.py:10: forward changes the global calls"),
    "a class": ("""
    class Model(nn.Module):
        calls = 0
        def forward(self, x):
            Model.calls += 1
            return x * Model.calls""", "module.py:9: forward changes Model.calls"),
}

harmless = {
    "only written": """
    class Model(nn.Module):
        def forward(self, x):
            self.last = x
            self.shape = list(x.shape)
            return x + 1""",
    "the same again": """
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = 2.0
            self.h0 = torch.zeros(4)
        def forward(self, x):
            self.scale = 2.0
            self.h0 = self.h0.to(x.device)
            return x * self.scale + self.h0""",
    "a cache": """
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.mask = None
            self.masks = {}
        def forward(self, x):
            if self.mask is None:
                self.mask = torch.ones(4, 4).tril()
            if x.shape not in self.masks:
                self.masks[x.shape] = torch.ones(x.shape)
            return x @ self.mask + self.masks[x.shape]""",
    "a tensor of the call's own": """
    class Model(nn.Module):
        def forward(self, x):
            y = torch.tensor([1.0, 2.0, 3.0, 4.0])
            y.add_(x[0])
            return x + y""",
    "a buffer": """
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("seen", torch.zeros(()))
        def forward(self, x):
            self.seen += 1
            return x * self.seen""",
}


@pytest.mark.parametrize("name", refused)
def test_results_that_depend_on_earlier_calls_are_refused(
    name: str, module_file: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    body, wanted = refused[name]
    assert main([str(module_file(body + _inputs)), "-o", str(tmp_path / "task")]) == 1
    said = capsys.readouterr().err
    assert wanted in said and said.count("\n") == 1


@pytest.mark.parametrize("part", ["", "cell."])
def test_a_hidden_state_is_that_of_the_first_call(part: str, module_file: Any, tmp_path: Path) -> None:
    path = module_file("""
        class Cell(nn.Module):
            def __init__(self):
                super().__init__()
                self.hidden = torch.zeros(3, 4)
            def forward(self, x):
                self.hidden = self.hidden.to(x.device)
                y = x + self.hidden
                self.hidden = x * 2
                return y
        """ + ("Model = Cell" if not part else """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.cell = Cell()
            def forward(self, x):
                self.width = x.shape[1]
                return self.cell(x)
        """) + """
        def get_inputs(): return [torch.rand(3, 4)]
        """)
    task, inputs, outputs = (tmp_path / name for name in ("task", "inputs", "outputs"))
    assert main([str(path), "-o", str(task)]) == 0
    assert json.loads((task / "interface.json").read_text())["first_call_only"] == [f"{part}hidden"]
    save_tensors({"x": torch.ones(3, 4)}, inputs)
    assert eager.main([str(path), "--task", str(task), "--inputs", str(inputs), "-o", str(outputs)]) == 0
    assert eager.load_tensors(outputs)["0"].tolist() == [[1.0] * 4] * 3


def test_what_is_made_anew_before_it_is_read_is_no_hidden_state(module_file: Any, tmp_path: Path) -> None:
    path = module_file("""
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.utils.spectral_norm(nn.Linear(4, 3))
            def forward(self, x): return self.layer(x)
        def get_inputs(): return [torch.rand(3, 4)]
        """)
    assert main([str(path), "-o", str(tmp_path / "task")]) == 0
    assert json.loads((tmp_path / "task" / "interface.json").read_text())["first_call_only"] == []


@pytest.mark.parametrize("name", harmless)
def test_what_changes_nothing_is_exported(name: str, module_file: Any, tmp_path: Path) -> None:
    assert main([str(module_file(harmless[name] + _inputs)), "-o", str(tmp_path / "task")]) == 0


def test_the_comparison_makes_a_call_on_other_inputs_first(
    module_file: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As a module does that hides its state where nobody looks."""
    path = module_file("""
        import torch.nn.functional
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("seen", torch.zeros(()))
            def forward(self, x):
                self.seen += 1
                torch.calls = getattr(torch, "calls", 0) + 1
                return x * torch.calls, x * self.seen
        def get_inputs(): return [torch.rand(2)]
        """)
    task, inputs, outputs = (tmp_path / name for name in ("task", "inputs", "outputs"))
    assert main([str(path), "-o", str(task)]) == 0
    torch.calls = 0  # type: ignore[attr-defined]
    save_tensors({"x": torch.ones(2)}, inputs)
    assert eager.main([str(path), "--task", str(task), "--inputs", str(inputs), "-o", str(outputs)]) == 0
    given = eager.load_tensors(outputs)
    assert given["0"].tolist() == [2, 2]  # the second call
    assert given["1"].tolist() == [1, 1] and given["state/seen"].item() == 1  # but for buffers
