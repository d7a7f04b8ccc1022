"""Packages with programs for several sizes."""

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

FAST_RELU = (
    "//! kernel k replaces relu_1 : grid=64 block=256 args=(x, relu_1)\n"
    'extern "C" __global__ void k(const float* x, float* y) {\n'
    "  const int i = blockIdx.x * 256 + threadIdx.x;\n"
    "  y[i] = fmaxf(x[i], 0.0f);\n"
    "}\n"
)

SIZED = """
import torch

rows = 16

class Model(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = torch.nn.Linear(width, 4)

    def forward(self, x, y): return self.linear(x) + torch.arange(x.shape[0]).unsqueeze(1) + y

def get_inputs(): return [torch.rand(rows, 8), 2 * torch.rand(rows, 4)]
def get_init_inputs(): return [8]
"""


def test_programs_for_several_sizes_share_the_weights(tmp_path: Path) -> None:
    package = export(tmp_path, SIZED, "sized", "--no-verify", "--shapes", "rows=32; x=7x8,y=7x4")
    new, original = package.ModelNew(8), package.model._original.Model(8)
    with torch.no_grad():
        for _ in range(2):
            new.load_state_dict(original.state_dict())
            for rows in (16, 32, 7):
                given = torch.rand(rows, 8), torch.rand(rows, 4)
                torch.testing.assert_close(new(*given), original(*given))
                assert package.why_not(new) == ""
            original = package.model._original.Model(8)
        new.load_state_dict(original.state_dict())
        given = torch.rand(9, 8), torch.rand(9, 4)
        with pytest.warns(UserWarning, match="sizes"):
            torch.testing.assert_close(new(*given), original(*given))


def test_each_size_is_judged_alone(tmp_path: Path) -> None:
    (tmp_path / "fixed.cu").write_text(FAST_RELU)  # writes 64 rows, whatever it gets
    done = run_export(tmp_path, RELU, "relu_sizes", "--program", "fixed.cu", "--shapes", "x=128x256", "--device", "vgpu")
    assert done.returncode == 1 and "not correct" in done.stderr, done.stderr


def test_sizes_of_what_is_not_there(tmp_path: Path) -> None:
    done = run_export(tmp_path, SIZED, "sized_wrongly", "--no-verify", "--shapes", "columns=3")
    assert done.returncode == 1 and done.stderr.count("\n") == 1, done.stderr
    assert "neither an argument of forward nor a number" in done.stderr


def test_sizes_that_need_other_weights_are_refused(tmp_path: Path) -> None:
    text = SIZED.replace("return [8]", "return [width]").replace("rand(rows, 8)", "rand(rows, width)") + "width = 8\n"
    done = run_export(tmp_path, text, "other_weights", "--no-verify", "--shapes", "width=12")
    assert done.returncode == 1 and "constructed differently" in done.stderr and done.stderr.count("\n") == 1
