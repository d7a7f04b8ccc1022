"""What the tests of packages share: exporting a module with the program under test (CUDAL1) and importing the result."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import torch

CUDAL1 = os.environ.get("CUDAL1", str(Path(__file__).resolve().parents[2] / "build/ci/bin/cudal1"))
os.environ.setdefault("CUDAL1_PYTHON", sys.executable)


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


def run_from_cpp(package: Path, inputs: list[torch.Tensor], outputs: list[torch.Tensor], *options: str) -> None:
    """Builds the package's own example and fills `outputs` (on the host) with what it computes."""
    program = package / "example"
    torch_libraries = Path(torch.__file__).parent / "lib"
    compiler = ["g++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "cpp/example.cpp", "-o", "example"]
    libraries = ["-Lcpp", "-lcudal1_model", "-Wl,-rpath,$ORIGIN/cpp", f"-Wl,-rpath,{torch_libraries}"]
    subprocess.run([*compiler, *libraries, "-Wl,--allow-shlib-undefined", "-ldl"], cwd=package, check=True)
    files = [package / f"input_{i}" for i in range(len(inputs))]
    for file, tensor in zip(files, inputs, strict=True):
        file.write_bytes(bytes(tensor.cpu().contiguous().view(torch.uint8).flatten().tolist()))
    results = [package / f"output_{i}" for i in range(len(outputs))]
    done = subprocess.run(
        [program, package, *options, *files, "--", *results], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    for file, tensor in zip(results, outputs, strict=True):
        tensor.copy_(torch.frombuffer(bytearray(file.read_bytes()), dtype=tensor.dtype).view(tensor.shape))
