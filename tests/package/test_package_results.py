"""Results that are more than tensors: rebuilt exactly, or refused."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from exporting import export, run_export

RELU = """
import torch

class Model(torch.nn.Module):
    def forward(self, x): return torch.relu(x)

def get_inputs(): return [torch.rand(64, 256)]
"""

NAMED = """
import collections, typing, torch

class Parts(typing.NamedTuple):
    low: torch.Tensor
    high: torch.Tensor

class Model(torch.nn.Module):
    def forward(self, x): return Parts(x - 1, x + 1), torch.max(x, dim=1)

def get_inputs(): return [torch.rand(4, 8)]
"""

DATACLASS = """
import dataclasses, torch

@dataclasses.dataclass
class Parts:
    low: torch.Tensor

torch.export.register_dataclass(Parts)

class Model(torch.nn.Module):
    def forward(self, x): return Parts(x - 1)

def get_inputs(): return [torch.rand(4, 8)]
"""


def test_named_tuples_are_rebuilt(tmp_path: Path) -> None:
    package = export(tmp_path, NAMED, "named", "--no-verify")
    new, x = package.ModelNew(), torch.rand(4, 8)
    with torch.no_grad():
        parts, largest = new(x)
    assert package.why_not(new) == ""
    assert type(parts) is package.model._original.Parts and type(largest) is torch.return_types.max
    torch.testing.assert_close(parts.high, x + 1)
    torch.testing.assert_close(largest.indices, x.argmax(dim=1))


@pytest.mark.parametrize(
    ("text", "type_name"),
    [
        (DATACLASS, "Parts"),
        (RELU.replace("return torch.relu(x)", "return {1: torch.relu(x)}"), "dict with keys that are no strings"),
        (RELU.replace("torch.relu(x)", "__import__('collections').OrderedDict(y=torch.relu(x))"), "OrderedDict"),
    ],
)
def test_results_that_cannot_be_rebuilt_are_refused(tmp_path: Path, text: str, type_name: str) -> None:
    done = run_export(tmp_path, text, "odd", "--no-verify")
    assert done.returncode == 1 and type_name in done.stderr and done.stderr.count("\n") == 1
    assert not (tmp_path / "odd_package").exists()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (RELU.replace("def get_inputs", "def make(): return Net()\nNet, Model = Model, make\ndef get_inputs"), "Model is a function"),
        (
            RELU.replace(
                "    def forward",
                "    def __init__(self):\n        super().__init__()\n        self.register_forward_hook(lambda *call: call[2] * 2)\n"
                "    def forward",
            ),
            "the constructor sets hooks on the module itself",
        ),
    ],
)
def test_modules_that_nothing_can_stand_in_for_are_refused(tmp_path: Path, text: str, reason: str) -> None:
    done = run_export(tmp_path, text, "odd", "--no-verify")
    assert done.returncode == 1 and reason in done.stderr and done.stderr.count("\n") == 1
    assert not (tmp_path / "odd_package").exists()


NAMES = """
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.größe = torch.nn.Linear(8, 4)
        self.maß = torch.nn.ModuleDict({"a-b": torch.nn.BatchNorm1d(4)})

    def forward(self, wärme): return self.maß["a-b"](self.größe(wärme))

def get_inputs(): return [torch.rand(16, 8)]
"""


def test_names_that_a_program_cannot_have_stay_those_of_the_state(tmp_path: Path) -> None:
    package = export(tmp_path, NAMES, "names", "--device", "vgpu")
    new, original = package.ModelNew(), package.model._original.Model()
    assert list(new.state_dict()) == list(original.state_dict()) and "maß.a-b.running_mean" in new.state_dict()
    new.load_state_dict(original.state_dict())
    x = torch.rand(16, 8)
    with torch.no_grad():
        torch.testing.assert_close(new(wärme=x), original(x))
    assert package.why_not(new) == ""
    torch.testing.assert_close(new.state_dict(), original.state_dict())
