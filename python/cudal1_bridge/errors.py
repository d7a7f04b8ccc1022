"""What a user is told: one line, with the place where it happened."""

from __future__ import annotations

from pathlib import Path


class BridgeError(Exception):
    """A module that cannot become a task, and why."""


class Refusal(BridgeError):
    """What stands against it on every device."""


def first_line(problem: BaseException) -> str:
    """The first line of an exception's text, or its type where it has none."""
    if isinstance(problem, SystemExit):
        return f"the module ends Python with exit code {problem.code}"
    lines = str(problem).strip().splitlines()
    return lines[0] if lines else type(problem).__name__


def with_place(problem: BaseException, file: Path) -> str:
    """The message, with the user's file where it does not say."""
    return str(problem) if str(file) in str(problem) else f"{file}: {problem}"
