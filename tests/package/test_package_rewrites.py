"""Packages whose program rewrites the graph: library calls on weights that are computed when weights change."""

from __future__ import annotations

from types import ModuleType

import pytest
import torch
from exporting import export_with

DEVICES = ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]

# Its module is in evaluation, so its statistics are weights.
MODULE = """
import torch
from torch import nn

class Model(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv2d(3, channels, 3)
        self.norm = nn.BatchNorm2d(channels)
        nn.init.uniform_(self.norm.running_var, 0.5, 2.0)
        nn.init.normal_(self.norm.running_mean)
        self.eval()

    def forward(self, x):
        return torch.relu(self.norm(self.conv(x))) * torch.softmax(torch.ones(4), 0).sum()

def get_inputs(): return [torch.randn(2, 3, 8, 7)]
def get_init_inputs(): return [6]
"""

PROGRAM = """
//! fold batch_norm_1 into conv2d_1
//! layout conv2d_1 relu_1 channels_last
//! hoist sum_1
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    return export_with(tmp_path_factory.mktemp("rewritten"), MODULE, "rewritten", PROGRAM, "--no-verify")


@pytest.fixture(params=DEVICES)
def device(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def pair(package: ModuleType, device: str, seed: int) -> tuple[torch.nn.Module, torch.nn.Module]:
    torch.manual_seed(seed)
    original = package.model._original.Model(6).to(device)
    new = package.ModelNew(6).to(device)
    new.load_state_dict(original.state_dict())
    return original, new


def test_gives_what_the_module_gives(package: ModuleType, device: str) -> None:
    for seed in (1, 2):
        original, new = pair(package, device, seed)
        x = torch.randn(2, 3, 8, 7, device=device)
        with torch.no_grad():
            torch.testing.assert_close(new(x), original(x), rtol=1e-4, atol=1e-4)
            assert new(x).stride() == original(x).stride()
        assert package.why_not(new) == ""


def test_prepares_again_when_weights_change(package: ModuleType, device: str) -> None:
    original, new = pair(package, device, 3)
    x = torch.randn(2, 3, 8, 7, device=device)
    with torch.no_grad():
        before = new(x)
        for module in (original, new):
            module.norm.bias += 1.0
            module.conv.bias = torch.nn.Parameter(torch.ones(6, device=device))
            module.norm.running_mean.mul_(3.0)
        torch.testing.assert_close(new(x), original(x), rtol=1e-4, atol=1e-4)
        assert not torch.equal(new(x), before)
    assert package.why_not(new) == ""
