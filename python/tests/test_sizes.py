"""Other sizes for a module's inputs (cudal1_bridge/sizes.py)."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from cudal1_bridge.errors import BridgeError
from cudal1_bridge.module_file import ModuleFile, load_module_file
from cudal1_bridge.sizes import parse_sizes, set_sizes

MODULE = """
import torch

rows = 4

class Model(torch.nn.Module):
    def forward(self, x, index, mask): return x

def get_inputs():
    x = torch.randn(rows, 3)
    return [x.half(), torch.randint(0, 9, (rows, 7)), x > 0]
"""


def module_file(folder: Path) -> ModuleFile:
    (folder / "module.py").write_text(MODULE)
    return load_module_file(folder / "module.py")


def sizes_of_inputs(file: ModuleFile) -> list[tuple[int, ...]]:
    return [tuple(tensor.shape) for tensor in file.make_inputs(0, "cpu")[0]]


def test_lists_of_sizes() -> None:
    assert parse_sizes("x=32x128, rows = 4") == {"x": (32, 128), "rows": (4,)}
    for text in ("x", "x=", "x=3x", "=3", "x=-3", "x=3,,y=4", ""):
        with pytest.raises(BridgeError, match="no size"):
            parse_sizes(text)


def test_numbers_of_the_file_are_set_as_if_it_had_been_edited(tmp_path: Path) -> None:
    file = module_file(tmp_path)
    set_sizes(file, "rows=6")
    assert sizes_of_inputs(file) == [(6, 3), (6, 7), (6, 3)]


def test_sizes_of_arguments_reach_what_is_computed_from_them(tmp_path: Path) -> None:
    file = module_file(tmp_path)
    set_sizes(file, "x=2x5,index=9")
    assert sizes_of_inputs(file) == [(2, 5), (9,), (2, 5)]
    assert file.make_inputs(0, "cpu")[0][0].dtype == torch.float16


def test_what_nobody_reads_is_refused(tmp_path: Path) -> None:
    for text, complaint in (("columns=3", "neither"), ("rows=3x4", "neither"), ("Model=3", "neither")):
        with pytest.raises(BridgeError, match=complaint):
            set_sizes(module_file(tmp_path), text)


def test_a_computed_argument_whose_sizes_cannot_be_set_is_named(tmp_path: Path) -> None:
    file = module_file(tmp_path)
    set_sizes(file, "x=2x5,mask=3x3")
    with pytest.raises(BridgeError, match="computes (x|mask)"):
        file.make_inputs(0, "cpu")
