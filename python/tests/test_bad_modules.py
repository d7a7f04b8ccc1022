"""Modules that cannot become tasks: one line that says where and why, and nothing is left behind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from cudal1_bridge.__main__ import main

_forward = """
class Model(nn.Module):
    def forward(self, x): return x + 1
"""

cases = {
    "no model": ("def get_inputs(): return []", "defines no Model"),
    "no inputs": (_forward, "defines no get_inputs"),
    "syntax": ("def get_inputs(:", "module.py:5: invalid syntax"),
    "package": ("import no_such_package", "module.py:5: needs the package 'no_such_package', which is not here"),
    "raises at import": ("raise ValueError('broken\\nhere')", "module.py:5: ValueError: broken"),
    "get_inputs raises": (_forward + "def get_inputs(): raise RuntimeError('none today')",
                          "module.py:8: get_inputs raises RuntimeError: none today"),
    "get_inputs gives a tensor": (_forward + "def get_inputs(): return torch.rand(2)", "not a list of inputs"),
    "constructor": (_forward + "def get_inputs(): return [torch.rand(2)]\ndef get_init_inputs(): return [3]",
                    "Model raises TypeError"),
    "no list of init arguments": (_forward + "def get_inputs(): return [torch.rand(2)]\ndef get_init_inputs(): return None",
                                  "module.py:9: get_init_inputs() returns NoneType, not a list of arguments"),
    "other sizes each time": (_forward + "sizes = iter(range(1, 99))\ndef get_inputs(): return [torch.rand(next(sizes))]",
                              "module.py:9: get_inputs gives tensors of other sizes from call to call"),
    "gradients of torch.func": ("""
class Model(nn.Module):
    def forward(self, x): return torch.func.grad(lambda t: (t * t).sum())(x)
def get_inputs(): return [torch.rand(2)]""", "module.py:7: forward computes gradients, which a task cannot"),
    "vmap": ("""
class Model(nn.Module):
    def forward(self, x): return torch.vmap(lambda t: t.softmax(0))(x)
def get_inputs(): return [torch.rand(2, 2)]""", "torch.vmap are none"),
    "cumulative average": ("""
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 4), nn.BatchNorm1d(4, momentum=None)])
    def forward(self, x): return self.layers[1](self.layers[0](x))
def get_inputs(): return [torch.rand(2, 4)]""",
        "module.py:9: layers.1 is a BatchNorm1d with momentum=None: it averages over all calls and so depends on"),
    "lazy layer": ("""
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.LazyLinear(4)
    def forward(self, x): return self.fc(x)
def get_inputs(): return [torch.rand(2, 4)]""",
        "module.py:9: fc is a LazyLinear, whose weights have no sizes before the first call"),
    "not a module": ("class Model: pass\ndef get_inputs(): return []", "Model is not a torch.nn.Module"),
    "wrong shape": ("""
class Model(nn.Module):
    def forward(self, x): return x @ torch.ones(3, 3)
def get_inputs(): return [torch.rand(2, 2)]""", "module.py:7: cannot be exported: RuntimeError"),
    "sizes depend on values": ("""
class Model(nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            return x
        return -x
def get_inputs(): return [torch.rand(2, 2)]""", "module.py:8: cannot be exported"),
    "complex": ("""
class Model(nn.Module):
    def forward(self, x): return torch.view_as_real(x)
def get_inputs(): return [torch.randn(2, 2, dtype=torch.complex64)]""", "complex64, which a task cannot have"),
    "no tensor comes out": ("""
class Model(nn.Module):
    def forward(self, x): return x, 3
def get_inputs(): return [torch.rand(2)]""", "forward returns a int among its outputs"),
    "writes its input": ("""
class Model(nn.Module):
    def forward(self, x): return x.add_(1)
def get_inputs(): return [torch.rand(2)]""", "module.py:7: forward writes its input x"),
    "writes its input under another name": ("""
class Model(nn.Module):
    def forward(self, x): return x.float().reshape(-1).add_(1)
def get_inputs(): return [torch.rand(2, 2)]""", "module.py:7: forward writes its input x"),
    "autocast of a GPU where there is none": ("""
class Model(nn.Module):
    def forward(self, x):
        with torch.autocast("cuda", dtype=torch.float16):
            return x @ x
def get_inputs(): return [torch.rand(2, 2)]""", "autocast for cuda, which can be exported only where there is a GPU"),
    "draws that nobody can repeat": ("""
class Model(nn.Module):
    def forward(self, x): return torch.poisson(x)
def get_inputs(): return [torch.rand(2, 2)]""", "module.py:7: aten::poisson draws as many random numbers as its values ask for, which a task cannot repeat"),
    "random numbers of Python": ("""import random
class Model(nn.Module):
    def forward(self, x): return x * random.random()
def get_inputs(): return [torch.rand(2, 2)]""", "module.py:7: forward draws numbers from random, which a task cannot repeat"),
    "random numbers of numpy": ("""import numpy as np
class Model(nn.Module):
    def forward(self, x): return x * float(np.random.rand())
def get_inputs(): return [torch.rand(2, 2)]""", "module.py:7: forward draws numbers from numpy.random"),
    "a generator of its own": ("""
class Model(nn.Module):
    def forward(self, x): return x + torch.rand(2, generator=torch.Generator())
def get_inputs(): return [torch.rand(2, 2)]""", "module.py:7: forward uses an object of type torch._C.Generator"),
    "seeds of its own": ("""
class Model(nn.Module):
    def forward(self, x): return torch.manual_seed(1) and x + torch.rand(2)
def get_inputs(): return [torch.rand(2, 2)]""", "module.py:7: forward seeds torch's generator"),
    "memory that nobody wrote": ("""
class Model(nn.Module):
    def forward(self, x): return x + torch.empty(2)
def get_inputs(): return [torch.rand(2, 2)]""", "module.py:7: aten::empty.memory_format gives memory that nobody wrote, and forward reads it"),
    "memory of another layout": ("""
class Model(nn.Module):
    def forward(self, x): return torch.empty_strided((2, 2), (1, 2)).copy_(x)
def get_inputs(): return [torch.rand(2, 2)]""", "module.py:7: aten::empty_strided gives memory that nobody wrote, in a layout"),
    "a result goes into an input": ("""
class Model(nn.Module):
    def forward(self, x): return torch.add(x, 1, out=x)
def get_inputs(): return [torch.rand(2, 2)]""", "module.py:7: forward writes its input x"),
    "a result gives a buffer another size": ("""
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("sum", torch.zeros(3))
    def forward(self, x): return torch.add(x, 1, out=self.sum) * 2
def get_inputs(): return [torch.rand(2, 2)]""", "module.py:10: forward gives the buffer sum another size"),
    "the line is the user's": ("""
class Model(nn.Module):
    def forward(self, x): return torch.distributions.Poisson(x).sample()
def get_inputs(): return [torch.rand(2, 2)]""", "module.py:7: aten::poisson draws as many random numbers as its values ask for"),
    "another size in place": ("""
class Model(nn.Module):
    def forward(self, x): return (x * 1).resize_(1, 2)
def get_inputs(): return [torch.rand(2, 2)]""", "module.py:7: aten::resize_ gives a tensor another size in place"),
    "several tensors in place": ("""
class Model(nn.Module):
    def forward(self, x): return torch._foreach_add_([x * 1, x * 2], 1.0) or x + 1
def get_inputs(): return [torch.rand(2, 2)]""", "module.py:7: aten::_foreach_add_.Scalar works in place and has no plain form for one tensor"),
    "sizes of outputs depend on values": ("""
class Model(nn.Module):
    def forward(self, x): return x[x > 0.5]
def get_inputs(): return [torch.rand(2, 2)]""", "module.py:7: aten.index.Tensor gives a tensor whose size depends on values"),
    "unknown output type": ("""
class Model(nn.Module):
    def forward(self, x): return x, "text"
def get_inputs(): return [torch.rand(2)]""", "forward returns a str among its outputs"),
    "a type that nobody knows": ("""
class Pair:
    def __init__(self, a): self.a = a
class Model(nn.Module):
    def forward(self, x): return [Pair(x + 1)]
def get_inputs(): return [torch.rand(2)]""", "module.py:6: forward returns Pair, which is neither a tensor nor a tuple"),
    "nothing comes out": ("""
class Model(nn.Module):
    def forward(self, x): return ()
def get_inputs(): return [torch.rand(2)]""", "module.py:7: forward returns no tensor"),
    "nothing is computed": ("""
class Model(nn.Module):
    def forward(self, x): return x
def get_inputs(): return [torch.rand(2)]""", "module.py: forward computes nothing"),
    "complex in between": ("""
class Model(nn.Module):
    def forward(self, x): return torch.fft.rfft(x).abs()
def get_inputs(): return [torch.rand(2)]""", "module.py:7: aten.fft_rfft.default gives a tensor of torch.complex64"),
    "a value in Python": ("""
class Model(nn.Module):
    def forward(self, x): return x * x.max().item()
def get_inputs(): return [torch.rand(2)]""", "module.py:7: the value of a tensor is wanted in Python"),
    "sparse": ("""
class Model(nn.Module):
    def forward(self, x): return x @ torch.ones(2, 2)
def get_inputs(): return [torch.eye(2).to_sparse()]""", "module.py:8: get_inputs gives a sparse tensor"),
    "expanded": ("""
class Model(nn.Module):
    def forward(self, x): return x + 1
def get_inputs(): return [torch.rand(1, 2).expand(2, 2)]""", "module.py:8: get_inputs gives a tensor whose elements share memory"),
    "larger than any memory": ("""
class Model(nn.Module):
    def forward(self, x): return x + 1
def get_inputs(): return [torch.rand(2**20, 2**20)]""", "module.py:8: get_inputs gives a tensor of 4398046511104 bytes"),
    "gradients": ("""
class Model(nn.Module):
    def forward(self, x):
        with torch.enable_grad():
            x = x.detach().requires_grad_()
            return torch.autograd.grad(x.tanh().sum(), x)[0]
def get_inputs(): return [torch.rand(2)]""", "module.py:10: forward computes gradients"),
    "exits at import": ("import sys\nsys.exit(0)", "module.py:6: SystemExit: the module ends Python with exit code 0"),
    "exits in get_inputs": (_forward + "def get_inputs(): raise SystemExit(0)",
                            "module.py:8: get_inputs raises SystemExit: the module ends Python with exit code 0"),
    "exits in forward": ("""
class Model(nn.Module):
    def forward(self, x): raise SystemExit(0)
def get_inputs(): return [torch.rand(2)]""", "module.py:7: cannot be exported: SystemExit"),
    "too many numbers from elsewhere": (_forward + "def get_inputs(): return [torch.tensor([1.0, 2.0] * 1000)]",
                                        "a task holds at most 1024 numbers"),
    "a draw that is not known": (_forward + "def get_inputs(): return [torch.rand(4).exponential_()]",
                                 "module.py:8: get_inputs calls aten::exponential_, a draw that is not known: use torch.rand"),
    "complex on the way": (_forward + "def get_inputs(): return [torch.view_as_real(torch.rand(4) * 1j)]",
                           "module.py:8: get_inputs computes with torch.complex64, which a task cannot have"),
    "one memory, several dtypes": (_forward + """
def get_inputs():
    x = torch.rand(4)
    x.view(torch.int32)[0] = 1
    return [x]""", "module.py:11: get_inputs writes memory that tensors of several kinds share: use .clone()"),
    "a default dtype that nothing says": ("""
torch.set_default_dtype(torch.bfloat16)
class Model(nn.Module):
    def forward(self, x): return x / 2
def get_inputs(): return [torch.randint(0, 9, (4,))]""", "module.py:8: aten::div.Tensor computes in the default dtype, which the module"),
    "numbers from elsewhere": ("""
import random
class Model(nn.Module):
    def forward(self, x): return x + 1
def get_inputs(): return [torch.tensor([random.random()])]""", "module.py:9: get_inputs draws numbers that are not made by torch"),
}


@pytest.fixture(autouse=True)
def _default_dtype() -> Iterator[None]:
    yield
    torch.set_default_dtype(torch.float32)


@pytest.mark.parametrize("name", cases)
def test_one_line_says_why(name: str, module_file: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if name == "autocast of a GPU where there is none" and torch.cuda.is_available():
        pytest.skip("there is a GPU")
    body, wanted = cases[name]
    assert main([str(module_file(body)), "-o", str(tmp_path / "task")]) == 1
    said = capsys.readouterr().err
    assert wanted in said
    assert said.startswith("cudal1: ") and said.count("\n") == 1
    assert not (tmp_path / "task").exists()
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_an_existing_folder_is_not_touched(module_file: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "task").mkdir()
    path = module_file(_forward + "def get_inputs(): return [torch.rand(2)]")
    assert main([str(path), "-o", str(tmp_path / "task")]) == 1
    assert "is already there" in capsys.readouterr().err
    assert list((tmp_path / "task").iterdir()) == []


def test_a_missing_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path / "no such.py"), "-o", str(tmp_path / "task")]) == 1
    assert "No such file" in capsys.readouterr().err
