"""What this process gives up for good, by the code that restricts our own programs (src/dialect/restrict_library.cpp)."""

from __future__ import annotations

import ctypes
from pathlib import Path

_PROBLEM_BYTES = 1024


class Restriction:
    """`policy`: JSON with the paths that stay in reach."""

    def __init__(self, library: Path, policy: str) -> None:
        self._function = ctypes.CDLL(str(library)).cudal1_restrict_self
        self._function.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t]
        self._policy = policy.encode()

    def apply(self, part: str = "all") -> None:
        """`part`: "paths" (Landlock) or "calls" (seccomp) alone, to find out what somebody does not bear."""
        problem = ctypes.create_string_buffer(_PROBLEM_BYTES)
        if self._function(self._policy, part.encode(), problem, _PROBLEM_BYTES) != 0:
            raise RuntimeError(problem.value.decode(errors="replace"))
