"""Packages of modules that draw random numbers or update buffers by other means than batch norm."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from exporting import export, export_with
from torch.utils._pytree import tree_leaves

LAYERS = """
import torch
from torch import nn
import torch.nn.functional as F

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.TransformerEncoderLayer(8, 2, 16)
        self.lstm = nn.LSTM(8, 8, 2, dropout=0.3)
        self.leaky = nn.RReLU()
    def forward(self, x):
        x = self.leaky(self.lstm(self.encoder(x))[0])
        return F.gumbel_softmax(x) + torch.bernoulli(x.sigmoid()), torch.randperm(6, device=x.device)

def get_inputs(): return [torch.randn(4, 6, 8)]
"""

SPECTRAL = """
import torch
from torch import nn

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.old = nn.utils.spectral_norm(nn.Linear(8, 6))
        self.new = nn.utils.parametrizations.spectral_norm(nn.Linear(6, 5))
    def forward(self, x): return self.new(self.old(x))

def get_inputs(): return [torch.randn(4, 8)]
"""

LEAKY = """
import torch

class Model(torch.nn.Module):
    def forward(self, x): return torch.nn.functional.rrelu(x * 2, 0.25, 0.5, training=True)

def get_inputs(): return [torch.randn(64, 64)]
"""


def _many(model: torch.nn.Module, x: torch.Tensor, count: int) -> list[torch.Tensor]:
    with torch.no_grad():
        calls = [[leaf.double() for leaf in tree_leaves(model(x))] for _ in range(count)]
    return [torch.stack(results) for results in zip(*calls, strict=True)]


def test_numbers_are_drawn_from_the_callers_generator(tmp_path: Path) -> None:
    package = export(tmp_path, LAYERS, "layers", "--no-verify")
    new, original = package.ModelNew(), package.model._original.Model()
    new.load_state_dict(original.state_dict())
    x = torch.randn(4, 6, 8)
    with torch.no_grad():
        first, _ = new(x)
        assert package.why_not(new) == "" and not torch.equal(first, new(x)[0])
        torch.manual_seed(3)
        seeded = new(x)
        torch.manual_seed(3)
        torch.testing.assert_close(new(x), seeded, rtol=0, atol=0)
    for drawn, wanted in zip(_many(new, x, 600), _many(original, x, 600), strict=True):
        spread = wanted.std(0).max().item()
        assert spread > 0.1
        torch.testing.assert_close(drawn.mean(0), wanted.mean(0), rtol=0, atol=0.35 * spread)
        torch.testing.assert_close(drawn.std(0).mean(), wanted.std(0).mean(), rtol=0.1, atol=0)


def test_spectral_norms_go_on_from_call_to_call(tmp_path: Path) -> None:
    package = export(tmp_path, SPECTRAL, "spectral", "--no-verify")
    new, original = package.ModelNew(), package.model._original.Model()
    new.load_state_dict(original.state_dict())
    with torch.no_grad():
        for _ in range(3):
            x = torch.randn(4, 8)
            torch.testing.assert_close(new(x), original(x))
            assert package.why_not(new) == ""
    for key, tensor in original.state_dict().items():
        torch.testing.assert_close(new.state_dict()[key], tensor)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="its kernels need a GPU")
def test_kernels_take_what_the_library_draws(tmp_path: Path) -> None:
    package = export_with(tmp_path, LEAKY, "leaky", "//! fuse mul_1 mul_2 add_1 mul_3 gt_1 where_1\n")
    new = package.ModelNew().cuda()
    with torch.no_grad():
        slopes = new(-torch.ones(64, 64, device="cuda")) / -2
    assert package.why_not(new) == "" and 0.25 <= slopes.min() < 0.27 and 0.48 < slopes.max() <= 0.5
