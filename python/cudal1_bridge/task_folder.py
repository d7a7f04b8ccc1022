"""Writes a task's folder. A folder is there whole or not at all."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from pathlib import Path

from .errors import BridgeError, first_line
from .exporting import ExportedTask
from .safetensors_file import save_tensors


def write_task(task: ExportedTask, folder: Path, imports: list[Path]) -> None:
    if folder.exists():
        raise BridgeError(f"{folder} is already there")
    folder.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        (made / "graph.json").write_text(_graph_text(task), encoding="utf-8")
        (made / "source.py").write_text(task.source, encoding="utf-8")
        hashes = {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in imports}
        (made / "imports.json").write_text(json.dumps(hashes), encoding="utf-8")
        interface = task.interface | {"constants": sorted(task.constants)}
        (made / "interface.json").write_text(json.dumps(interface), encoding="utf-8")
        if task.constants:
            save_tensors(task.constants, made / "constants.safetensors")
        if task.tensors:
            save_tensors(task.tensors, made / "weights.safetensors")
            save_tensors(task.fresh_tensors, made / "fresh_weights.safetensors")
        made.chmod(0o755)
        made.rename(folder)
    except OSError as problem:
        raise BridgeError(f"{folder}: {first_line(problem)}") from problem
    except TypeError as problem:
        raise BridgeError(first_line(problem)) from problem
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _graph_text(task: ExportedTask) -> str:
    """One leaf or node a line: people read these files, and so do models."""
    lines = []
    for key, value in task.to_json().items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            parts = ",\n".join(f"    {json.dumps(part)}" for part in value)
            lines.append(f'  "{key}": [\n{parts}\n  ]')
        else:
            lines.append(f'  "{key}": {json.dumps(value)}')
    return "{\n" + ",\n".join(lines) + "\n}\n"
