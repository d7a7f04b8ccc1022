"""Recurrent layers are exported as what they are, at the price of one step."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from cudal1_bridge import exporting
from cudal1_bridge.__main__ import main
from cudal1_bridge.recurrent_shapes import RECURRENT_OPS, shapes_from_one_step
from torch import nn
from torch._decomp import decomposition_table
from torch._subclasses import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils._pytree import tree_leaves

LAYERS: list[tuple[type[nn.RNNBase], dict[str, Any]]] = [
    (nn.GRU, {}),
    (nn.RNN, {"nonlinearity": "tanh"}),
    (nn.RNN, {"nonlinearity": "relu", "bias": False}),
    (nn.LSTM, {"dropout": 0.5}),
    (nn.LSTM, {"proj_size": 3}),
]


def _looks(results: Any) -> list[tuple[Any, ...]]:
    return [(leaf.shape, leaf.stride(), leaf.dtype, leaf.device) for leaf in tree_leaves(results)]


def _run_on_fake_tensors(layer: nn.Module, x: torch.Tensor) -> Any:
    """As the exporter does."""
    fake = FakeTensorMode(allow_non_fake_inputs=True)
    with fake, torch._C._EnablePythonDispatcher():
        return layer(fake.from_tensor(x))


def _tables() -> list[dict[Any, Any]]:
    return [dict(op.py_kernels) for op in RECURRENT_OPS] + [{op: decomposition_table[op]} for op in RECURRENT_OPS]


@pytest.mark.parametrize(("kind", "options"), LAYERS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_results_look_as_those_of_eager_mode(
    kind: type[nn.RNNBase], options: dict[str, Any], dtype: torch.dtype
) -> None:
    sizes = [(7, 5), (4, 7, 5), (4, 1, 5), (1, 7, 5), (1, 1, 5)]  # the first is one without a batch
    for batch_first, bidirectional, size in itertools.product((False, True), (False, True), sizes):
        layer = kind(5, 6, 2, batch_first=batch_first, bidirectional=bidirectional, dtype=dtype, **options)
        x = torch.rand(size, dtype=dtype)
        with torch.no_grad(), shapes_from_one_step():
            expected, given = layer(x), _run_on_fake_tensors(layer, x)
        assert _looks(given) == _looks(expected), (batch_first, bidirectional, size)


def _module_file(forward: str, size: str, layer: str = "nn.GRU(5, 6, 2, bidirectional=True)") -> str:
    return f"""
            class Model(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.layer = {layer}
                def forward(self, x):
                    y, h = self.layer(x)
                    {forward}
            def get_inputs(): return [torch.rand({size})]
            """


MODULES = [
    _module_file("return y, h", "4, 3, 5"),
    _module_file("return y.contiguous().view(-1), h", "3, 4, 5", "nn.GRU(5, 6, batch_first=True)"),
    _module_file("return y, *h", "3, 4, 5", "nn.LSTM(5, 6, 2, batch_first=True, bidirectional=True, proj_size=3)"),
    _module_file("return y + h[-1]", "4, 3, 5", "nn.RNN(5, 6, nonlinearity='relu')"),
    _module_file("v = y[0]; y.mul_(2); v.add_(1); return y, v", "4, 3, 5"),  # is functionalized, and so traced twice
]


@pytest.mark.parametrize("module", MODULES)
def test_the_graph_is_the_one_of_all_steps(
    module_file: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str
) -> None:
    path = module_file(module)
    assert main([str(path), "-o", str(tmp_path / "one_step")]) == 0
    monkeypatch.setattr(exporting, "shapes_from_one_step", contextlib.nullcontext)
    assert main([str(path), "-o", str(tmp_path / "every_step")]) == 0
    written = [(tmp_path / folder / "graph.json").read_text() for folder in ("one_step", "every_step")]
    assert written[0] == written[1]
    assert '"aten::' in written[0] and ".input" in written[0]


@pytest.mark.parametrize("forward", ["return y, h", "v = y[0]; y.mul_(2); v.add_(1); return y, v"])
def test_the_decomposition_gets_one_step(
    module_file: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, forward: str
) -> None:
    op, seen = torch.ops.aten.gru.input, []

    def noting(every_step: Callable[..., Any]) -> Callable[..., Any]:
        def kernel(input: torch.Tensor, *rest: Any) -> Any:
            seen.append(input.size(0))
            return every_step(input, *rest)

        return kernel

    for table, keys in ((op.py_kernels, list(op.py_kernels)), (decomposition_table, [op])):
        for key in keys:
            monkeypatch.setitem(table, key, noting(table[key]))
    op._dispatch_cache.clear()
    assert main([str(module_file(_module_file(forward, "40, 3, 5"))), "-o", str(tmp_path / "task")]) == 0
    op._dispatch_cache.clear()
    assert set(seen) == {1}


def _traced(layer: nn.Module, x: torch.Tensor) -> Any:
    return make_fx(layer, tracing_mode="symbolic", _allow_non_fake_inputs=True)(x)


def _decomposed(layer: nn.Module, x: torch.Tensor) -> Any:
    return torch.export.export(layer, (x,), strict=False).run_decompositions().module()


@pytest.mark.parametrize("record", [_traced, _decomposed])
def test_who_records_the_steps_gets_all_of_them(record: Callable[..., Any]) -> None:
    layer, x = nn.GRU(5, 6).requires_grad_(False), torch.rand(4, 3, 5)
    with shapes_from_one_step():
        recorded = record(layer, x)
    torch.testing.assert_close(recorded(x), layer(x))


def test_everything_is_as_before_afterwards() -> None:
    before = _tables()
    with shapes_from_one_step():
        assert all(table != changed for table, changed in zip(before, _tables(), strict=True))
        _run_on_fake_tensors(nn.GRU(5, 6), torch.rand(4, 3, 5))
    assert _tables() == before
    with pytest.raises(KeyError), shapes_from_one_step():
        raise KeyError
    assert _tables() == before


def test_no_kernel_of_ours_stays_in_use() -> None:
    with shapes_from_one_step():
        _run_on_fake_tensors(nn.GRU(5, 6), torch.rand(4, 3, 5))
        assert torch.ops.aten.gru.input._dispatch_cache
    assert not torch.ops.aten.gru.input._dispatch_cache


def test_sizes_that_do_not_fit_are_still_refused(
    module_file: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for size in ("4, 3, 4", "0, 3, 5"):
        path = module_file(_module_file("return y, h", size))
        assert main([str(path), "-o", str(tmp_path / "task")]) == 1
        assert "cannot be exported" in capsys.readouterr().err


def test_tensors_that_are_there_are_computed_with() -> None:
    layer, x = nn.GRU(5, 6), torch.rand(4, 3, 5)
    expected = layer(x)
    with shapes_from_one_step(), torch._C._EnablePythonDispatcher():
        given = layer(x)
    torch.testing.assert_close(given, expected)
