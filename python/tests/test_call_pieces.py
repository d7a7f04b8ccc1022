"""bench/pytorch/call_pieces.py, on the processor: every piece that there is without a GPU is shown."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

SCRIPT = Path(__file__).resolve().parent.parent.parent / "bench" / "pytorch" / "call_pieces.py"


def test_shows_the_pieces_of_a_call_by_rehearsals(module_file: Callable[[str], Path]) -> None:
    body = """
    class Model(nn.Module):
        def forward(self, x):
            return x + 1
    def get_inputs(): return [torch.rand(8)]
    """
    options = "--device cpu --ways eager,cudnn-benchmark --rehearsals 0,2 --seconds 0".split()
    command = [sys.executable, str(SCRIPT), str(module_file(body)), *options]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    for line in ("eager only, 0", "eager only, 2", "ways in turn, 0", "ways in turn, 2"):
        (shown,) = [text for text in said.splitlines() if text.strip().startswith(f"{line} rehearsals")]
        words = shown.split()
        assert float(words[words.index("us") - 1]) > 0.0
        assert all(float(words[words.index(piece) + 1]) > 0.0 for piece in ("draw", "copy", "call"))
