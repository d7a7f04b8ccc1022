"""Why a solution does not run: a status of docs/evaluator.md, one line, and the place in its text."""

from __future__ import annotations

import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: What libraries say in words only, the most telling first.
_STATUS_OF_WORDS = (
    ("Error building extension", "compile_error"),
    ("CompilationError", "compile_error"),
    ("ptxas fatal", "compile_error"),
    ("out of memory", "out_of_memory"),
    ("can't allocate memory", "out_of_memory"),
    ("MemoryError", "out_of_memory"),
    ("OutOfResources", "launch_error"),
    ("illegal memory access", "illegal_access"),
    ("misaligned address", "illegal_access"),
    ("illegal instruction", "illegal_access"),
    ("device-side assert", "illegal_access"),
    ("unspecified launch failure", "illegal_access"),
    ("invalid configuration argument", "launch_error"),
    ("too many resources requested", "launch_error"),
    ("invalid device function", "launch_error"),
    ("no kernel image is available", "launch_error"),
)


@dataclass
class SolutionFailure(Exception):
    status: str
    message: str
    line: int = 0
    details: str = ""

    def to_json(self) -> dict[str, Any]:
        return {"failure": {"status": self.status, "message": self.message, "line": self.line, "details": self.details}}


def failure_of(problem: BaseException, doing: str, path: Path | None) -> SolutionFailure:
    """`doing` says in a word or two what raised: "forward", "the constructor"."""
    if isinstance(problem, SolutionFailure):
        return problem
    text = f"{type(problem).__name__}: {problem}"
    line = line_of(problem, path)
    if isinstance(problem, SyntaxError):
        return SolutionFailure("parse_error", str(problem.msg), problem.lineno or 0)
    if isinstance(problem, ModuleNotFoundError):
        return SolutionFailure("unsupported", f"needs the package '{problem.name}', which is not here", line)
    status = next((status for words, status in _STATUS_OF_WORDS if words in text), "crashed")
    message = _compiler_line(text) if status == "compile_error" else text.strip().splitlines()[0]
    return SolutionFailure(status, f"{doing} raises {message[:500]}", line, text[:20000])


def line_of(problem: BaseException, path: Path | None) -> int:
    frames = [frame.lineno or 0 for frame in traceback.extract_tb(problem.__traceback__) if path and frame.filename == str(path)]
    return frames[-1] if frames else 0


def _compiler_line(text: str) -> str:
    """Of a log, the line that names the first error."""
    lines = text.strip().splitlines()
    return next((line.strip() for line in lines if "error:" in line or "error :" in line), lines[0])
