"""Packages without Python: their C++ library, through the example that comes with them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import torch
from exporting import export, export_with, run_from_cpp

MODULE = """
import torch

class Model(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = torch.nn.Linear(width, 4)

    def forward(self, x, y): return self.linear(x) + torch.arange(x.shape[0]).unsqueeze(1) + y

def get_inputs(): return [torch.rand(16, 8), torch.rand(16, 4)]
def get_init_inputs(): return [8]
"""

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


def test_cpp_runs_library_steps_on_the_host(tmp_path: Path) -> None:
    package = export(tmp_path, MODULE, "from_cpp", "--no-verify")
    folder = tmp_path / "from_cpp_package"
    new, given, result = package.ModelNew(8), [torch.rand(16, 8), torch.rand(16, 4)], torch.empty(16, 4)
    package.save_weights(new, tmp_path / "weights")
    run_from_cpp(folder, given, [result], "--host", "--weights", str(tmp_path / "weights"))
    with torch.no_grad():
        torch.testing.assert_close(result, new(*given))
    run_from_cpp(folder, given, [result], "--host")  # the weights that it was exported with
    assert not torch.allclose(result, new(*given))


def test_cpp_says_what_is_wrong_and_needs_no_torch_for_kernels(tmp_path: Path) -> None:
    export_with(tmp_path, RELU, "relu_from_cpp", FAST_RELU, "--no-verify", "--target", "sm_90")
    folder = tmp_path / "relu_from_cpp_package"
    with pytest.raises(AssertionError, match="its kernels run on a GPU only"):
        run_from_cpp(folder, [torch.rand(64, 256)], [torch.empty(64, 256)], "--host")
    needed = subprocess.run(["readelf", "-d", folder / "cpp/libcudal1_model.so"], capture_output=True, text=True).stdout
    assert "NEEDED" in needed and "torch" not in needed and "c10" not in needed
