from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

_header = """
import torch
from torch import nn
import torch.nn.functional as F
"""


@pytest.fixture
def module_file(tmp_path: Path) -> Callable[[str], Path]:
    """Writes a module file; the imports that all of them begin with are there already."""

    def write(body: str, name: str = "module.py") -> Path:
        path = tmp_path / name
        path.write_text(_header + textwrap.dedent(body))
        return path

    return write
