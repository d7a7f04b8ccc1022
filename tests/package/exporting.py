"""What the tests of packages share: exporting a module with the program under test (CUDAL1) and importing the result."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

CUDAL1 = os.environ.get("CUDAL1", str(Path(__file__).resolve().parents[2] / "build/ci/bin/cudal1"))


def run_export(folder: Path, text: str, name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    (folder / f"{name}.py").write_text(text)
    command = [CUDAL1, "export", f"{name}.py", "-o", f"{name}_package", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def export(folder: Path, text: str, name: str, *arguments: str) -> ModuleType:
    """`name`: another one for every package of a process."""
    done = run_export(folder, text, name, *arguments)
    assert done.returncode == 0, done.stderr
    sys.path.insert(0, str(folder))
    try:
        return importlib.import_module(f"{name}_package")
    finally:
        sys.path.remove(str(folder))


def export_with(folder: Path, text: str, name: str, program: str, *arguments: str) -> ModuleType:
    (folder / f"{name}.cu").write_text(program)
    return export(folder, text, name, "--program", f"{name}.cu", *arguments)
