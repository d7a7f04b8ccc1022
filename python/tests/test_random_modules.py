"""Modules that draw random numbers: made of draws that depend on sizes alone, and of arithmetic around them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from cudal1_bridge.__main__ import main
from cudal1_bridge.module_file import load_module_file
from cudal1_bridge.random_nodes import DRAWS
from graph_runner import GraphRunner, expect_same_results
from torch.utils._pytree import tree_leaves


def _layer(made: str, forward: str = "self.layer(x)", inputs: str = "torch.randn(4, 6, 8)") -> str:
    return f"""
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = {made}
            def forward(self, x): return {forward}
        def get_inputs(): return [{inputs}]
        """


def _function(forward: str, inputs: str = "torch.randn(4, 6, 8)") -> str:
    return _layer("nn.Identity()", forward, inputs)


_images = "torch.randn(4, 6, 5, 5)"
_heads = "torch.randn(2, 4, 6, 8)"
_attention = "F.scaled_dot_product_attention"

# module, how many nodes of its task draw
modules = {
    "encoder": (_layer("nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)"), 4),
    "decoder": (_layer("nn.TransformerDecoderLayer(8, 2, 16)", "self.layer(x, x * 2)"), 6),
    "causal decoder": (_layer("nn.TransformerDecoderLayer(8, 2, 16)", """self.layer(
                x, x * 2, tgt_mask=nn.Transformer.generate_square_subsequent_mask(4, device=x.device), tgt_is_causal=True)"""), 6),
    "attention with weights": (_layer("nn.MultiheadAttention(8, 2, dropout=0.1)", "self.layer(x, x, x)"), 1),
    "attention": (_function(f"{_attention}(x, x, x, dropout_p=0.1)", _heads), 1),
    "attention to the past": (_function(f"{_attention}(x, x, x, dropout_p=0.1, is_causal=True)", _heads), 1),
    "attention by mask": (_function(f"{_attention}(x, x, x, x[..., :6] > 0.8, 0.1, scale=0.3)", _heads), 1),
    "attention by bias": (_function(f"{_attention}(x, x, x, x[..., :6], 0.1)", _heads), 1),
    "attention of groups": (_function(f"{_attention}(x, x[:, :2], x[:, 2:], dropout_p=0.1, enable_gqa=True)", _heads), 1),
    "attention without a number left": (_function(f"{_attention}(x, x, x, dropout_p=1.0)", _heads), 0),
    "lstm": (_layer("nn.LSTM(8, 5, num_layers=2, dropout=0.3)"), 1),
    "bidirectional lstm": (_layer("nn.LSTM(8, 5, 3, dropout=0.3, bidirectional=True, batch_first=True)"), 2),
    "projected lstm": (_layer("nn.LSTM(8, 5, num_layers=2, dropout=0.3, proj_size=3)"), 1),
    "lstm of one layer": (_layer("nn.LSTM(8, 5, dropout=0.3)"), 0),
    "gru": (_layer("nn.GRU(8, 5, num_layers=2, dropout=0.3, bias=False)"), 1),
    "rnn": (_layer("nn.RNN(8, 5, num_layers=2, dropout=0.3)"), 1),
    "rnn of one sequence": (_layer("nn.RNN(8, 5, 2, dropout=0.3, nonlinearity='relu')", "self.layer(x[0])"), 1),
    "dropout of nothing at all": (_layer("nn.Dropout(0.3)", "self.layer(x), torch.rand(3)", "torch.randn(0, 8)"), 1),
    "dropout of all": (_layer("nn.Dropout(1.0)", "self.layer(x) + F.dropout(x, 0.5)"), 1),
    "dropout1d": (_layer("nn.Dropout1d(0.4)", "self.layer(x) + self.layer(x[0])"), 2),
    "dropout2d in place": (_layer("nn.Dropout2d(0.4, inplace=True)", "self.layer(x * 1)", _images), 1),
    "dropout3d": (_layer("nn.Dropout3d(0.4)", inputs="torch.randn(2, 3, 4, 4, 2)"), 1),
    "alpha dropout": (_layer("nn.AlphaDropout(0.4)"), 1),
    "alpha dropout in place": (_layer("nn.AlphaDropout(0.4, inplace=True)", "self.layer(x * 1)"), 1),
    "feature alpha dropout": (_layer("nn.FeatureAlphaDropout(0.4)", inputs=_images), 1),
    "alpha dropout of nothing": (_layer("nn.AlphaDropout(0.0)"), 0),
    "rrelu": (_layer("nn.RReLU(0.2, 0.4)"), 1),
    "alpha dropout of channels_last": (_layer("nn.AlphaDropout(0.4)", "self.layer(x.to(memory_format=torch.channels_last))", _images), 1),
    "draws in other layouts": (_function("""(F.rrelu(x.mT, training=True) + torch.bernoulli(x.mT.sigmoid()) + F.dropout(x.mT, 0.3)
                + torch.normal(x.mT, 1.0) + F.gumbel_softmax(x.mT) + torch.rand_like(x.mT))"""), 6),
    "rrelu in place": (_layer("nn.RReLU(inplace=True)", "self.layer(x * 1)"), 1),
    "rrelu that draws nothing": (_layer("nn.RReLU().eval()"), 0),
    "stochastic depth": (_function("x / 0.9 * (0.9 + torch.rand((x.shape[0], 1, 1), device=x.device)).floor_()"), 1),
    "gumbel softmax": (_function("F.gumbel_softmax(x, tau=0.5), F.gumbel_softmax(x, hard=True)"), 2),
    "draws into memory": (_function("""(torch.empty_like(x).exponential_() + torch.empty_like(x).normal_(1, 2)
                + x.new_empty(8).uniform_(-1, 1) + torch.empty(6, 8).bernoulli_() + torch.empty_like(x).cauchy_()
                + torch.empty_like(x).geometric_(0.3) + torch.empty_like(x).log_normal_()
                + torch.empty_like(x).bernoulli_(x.sigmoid()))"""), 8),
    "distributions": (_function("torch.distributions.Normal(x, 2.0).sample() + torch.distributions.Normal(x, x.exp()).rsample()"), 2),
    "rand and randn": (_function("x + torch.rand(6, 8) + torch.randn(x.shape, dtype=x.dtype) + torch.randn_like(x)"), 3),
    "bernoulli": (_function("torch.bernoulli(x.sigmoid()) + torch.bernoulli(x, 0.3)"), 2),
    "normal": (_function("torch.normal(x, 0.5) + torch.normal(1.0, x.exp()) + torch.normal(x[0], x.exp())"), 3),
    "whole numbers for real ones": (_function("F.dropout(x, 0) + F.dropout(x, 1) + torch.normal(1, x.exp()) + torch.normal(x, 2)"), 2),
    "normal of numbers": (_function("x + torch.normal(2.0, 3.0, (6, 8))"), 1),
    "randint": (_function("x + torch.randint(2, 5, (6, 8)) + torch.randint(3, (8,)) + torch.randint_like(x, 4)"), 3),
    "randperm": (_function("x[:, torch.randperm(6)]"), 1),
    "multinomial": (_function("torch.multinomial(x.softmax(-1), 3), torch.multinomial(x.exp(), 1)", "torch.randn(4, 6)"), 2),
    "multinomial with replacement": (_function("torch.multinomial(x.exp(), 9, replacement=True)", "torch.randn(4, 6)"), 1),
    "pooling at random": (_layer("nn.FractionalMaxPool2d(2, output_ratio=0.5)", inputs="torch.randn(2, 3, 9, 9)"), 1),
}  # fmt: skip


# What is made plain by PyTorch before it is made of draws here.
modules["all of a view that is written"] = ("""
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.encoder = nn.TransformerEncoderLayer(8, 2, 16)
            self.lstm = nn.LSTM(8, 8, 2, dropout=0.2)
        def forward(self, x):
            y = x.clone()
            y[:, 0] = 1
            y[1].mul_(2)
            z = torch.empty_like(y).uniform_() + F.rrelu(y, training=True) + F.rrelu_(y * 1, training=True)
            z = z + torch.bernoulli(y.sigmoid()) * torch.empty_like(y).normal_() + F.dropout(y, 0.5, inplace=True)
            return self.lstm(self.encoder(y) + z + F.gumbel_softmax(y))[0]
    def get_inputs(): return [torch.randn(4, 6, 8)]
    """, 12)


def _drawing(runner: GraphRunner) -> list[dict[str, Any]]:
    names = {op.name() for op in DRAWS}
    return [node for node in runner.graph["nodes"] if node["op"] in names]


@pytest.mark.parametrize("name", modules)
def test_a_task_computes_with_its_draws_what_its_module_computes(name: str, module_file: Any, tmp_path: Path) -> None:
    text, draws = modules[name]
    assert len(_drawing(expect_same_results(module_file(text), tmp_path / "task"))) == draws


# As the module itself draws: means and deviations over many numbers.
distributions = {
    "rrelu": _layer("nn.RReLU(0.1, 0.5)", inputs="-torch.ones(200, 500)"),
    "bernoulli": _function("torch.bernoulli(x)", "torch.full((200, 500), 0.3)"),
    "alpha dropout": _layer("nn.AlphaDropout(0.4)", inputs="torch.ones(200, 500)"),
    "normal": _function("torch.normal(x, 3.0)", "torch.ones(200, 500)"),
    "multinomial": _function("torch.multinomial(x, 2).float()", "torch.tensor([0.0, 1.0, 3.0, 6.0]).repeat(50000, 1)"),
    "multinomial with replacement": _function("torch.multinomial(x, 50, replacement=True).float()",
                                              "torch.tensor([0.0, 1.0, 0.0, 3.0, 6.0, 0.0]).repeat(2000, 1)"),
}  # fmt: skip


@pytest.mark.parametrize("name", distributions)
def test_numbers_are_drawn_as_the_module_draws_them(name: str, module_file: Any, tmp_path: Path) -> None:
    path = module_file(distributions[name])
    assert main([str(path), "-o", str(tmp_path / "task")]) == 0
    file = load_module_file(path)
    given = file.make_inputs(1, "cpu")[0]
    (drawn,), _ = GraphRunner(tmp_path / "task").run(given)
    (wanted,) = tree_leaves(file.make_model(1, "cpu")(*given))
    assert drawn.std() > 0.05
    torch.testing.assert_close(drawn.mean(), wanted.mean(), rtol=0.02, atol=0.0)
    torch.testing.assert_close(drawn.std(), wanted.std(), rtol=0.02, atol=0.0)
    torch.testing.assert_close(torch.stack([drawn.min(), drawn.max()]), torch.stack([wanted.min(), wanted.max()]), rtol=0.3, atol=0.01)
