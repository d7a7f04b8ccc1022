"""What a user is told: one line, with the place where it happened."""


class BridgeError(Exception):
    """A module that cannot become a task, and why."""


def first_line(problem: BaseException) -> str:
    """The first line of an exception's text, or its type where it has none."""
    lines = str(problem).strip().splitlines()
    return lines[0] if lines else type(problem).__name__
