"""What the operating system refuses this process of all that the CUDA driver asks for when it starts.

The driver itself says no more than "OS call failed" (304).
"""

from __future__ import annotations

import errno
import functools
import glob
import os
import socket
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path


def refusals() -> list[str]:
    """One entry each, with the errno's name; empty where nothing is refused."""
    found = []
    for what, attempt in _attempts().items():
        try:
            attempt()
        except OSError as problem:
            found.append(f"{what} ({errno.errorcode.get(problem.errno or 0, problem.errno)})")
        except RuntimeError as problem:  # what Python says of threads
            found.append(f"{what} ({problem})")
    return found


def restrictions_in_force() -> str:
    """By the kernel's word: "NoNewPrivs 0, Seccomp 0"."""
    fields = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines() if ":" in line)
    return ", ".join(f"{name} {fields.get(name, 'unknown').strip()}" for name in ("NoNewPrivs", "Seccomp"))


def _attempts() -> dict[str, Callable[[], None]]:
    devices = sorted(path for path in glob.glob("/dev/nvidia*") if not os.path.isdir(path))
    return {f"opening {device}": functools.partial(_open, device, os.O_RDWR) for device in devices} | {
        "reading /proc/self/maps": functools.partial(_open, "/proc/self/maps", os.O_RDONLY),
        "naming a thread below /proc": _name_this_thread,
        "starting a thread": _start_a_thread,
        "a local socket": _listen_on_a_local_socket,
        "memory as a file": lambda: os.close(os.memfd_create("cudal1")),
        "a file in /dev/shm": lambda: tempfile.TemporaryFile(dir="/dev/shm").close(),
    }


def _open(path: str, flags: int) -> None:
    os.close(os.open(path, flags | os.O_CLOEXEC))


def _name_this_thread() -> None:
    path = f"/proc/self/task/{threading.get_native_id()}/comm"
    with open(path, "rb") as file:
        name = file.read()
    with open(path, "wb", buffering=0) as file:
        file.write(name)


def _start_a_thread() -> None:
    thread = threading.Thread(target=lambda: None)
    thread.start()
    thread.join()


def _listen_on_a_local_socket() -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as made:
        made.bind(f"\0cudal1-{os.getpid()}")
        made.listen()
