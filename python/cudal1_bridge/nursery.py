"""python -m cudal1_bridge.nursery --threads N: starts other Python programs of the bridge, with PyTorch already loaded.

Importing PyTorch with its exporter and compiler takes seconds of a processor; a fork of a process that has them takes
milliseconds. Descriptor 3 is a listening socket. Whoever wants a program connects, sends one message

    {"module": "cudal1_bridge.worker", "arguments": […], "environment": {…}, "descriptors": [0, 1, 2]}

with those descriptors attached, and reads back its process number, then, once it has ended, its wait status. Closing the
connection ends the program, and everything it started. Nothing here may touch a GPU: CUDA does not survive a fork.
"""

from __future__ import annotations

import argparse
import array
import contextlib
import ctypes
import functools
import gc
import importlib
import json
import os
import selectors
import signal
import socket
import sys
import traceback
from dataclasses import dataclass
from typing import Any

LISTENING_DESCRIPTOR = 3
MOST_MESSAGE_BYTES = 1 << 18
MOST_DESCRIPTORS = 8
DIE_WITH_PARENT = 1  #: PR_SET_PDEATHSIG
LONGEST_TRY_SECONDS = 60

#: What programs import sooner or later. Some exist only where there is a GPU.
PRELOADED = (
    "torch",
    "torch.export",
    "torch._export",
    "torch._dynamo",
    "torch._inductor.compile_fx",
    "torch._inductor.codegen.triton",
    "torch._inductor.codegen.wrapper",
    "torch._inductor.codegen.cuda_combined_scheduling",
    "torch._inductor.runtime.triton_heuristics",
    "torch._inductor.cudagraph_trees",
    "triton.compiler",
    "triton.language",
    "cudal1_bridge.__main__",
    "cudal1_bridge.eager",
    "cudal1_bridge.worker",
)


@dataclass
class Request:
    module: str
    arguments: list[str]
    environment: dict[str, str]
    descriptors: list[tuple[int, int]]  #: (ours, the program's number)


@contextlib.contextmanager
def _no_gpu_in_sight():
    """Whoever asks PyTorch whether there is a GPU hears no, without the driver being asked."""
    hidden = {"CUDA_VISIBLE_DEVICES": "", "PYTORCH_NVML_BASED_CUDA_CHECK": "1"}
    before = {name: os.environ.get(name) for name in hidden}
    os.environ.update(hidden)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def preload() -> None:
    with _no_gpu_in_sight():
        for name in PRELOADED:
            try:
                importlib.import_module(name)
            except Exception:  # a program that needs it will say so
                continue
        _rehearse_export()
    _forget_answers()


def _rehearse_export() -> None:
    """The first export imports, and builds tables, for a second."""
    import torch

    with contextlib.suppress(Exception), contextlib.redirect_stderr(None), torch.no_grad(), torch.device("meta"):
        with _no_device_guard():
            program = torch.export.export(torch.nn.Linear(2, 2), (torch.empty(2, 2),), strict=False)
            program.run_decompositions({})


@contextlib.contextmanager
def _no_device_guard():
    """Tracing asks for a guard of the current GPU, which starts the driver; nobody needs it for tensors of no device."""
    import torch

    name = "_ensureCUDADeviceGuardSet"
    before = getattr(torch._C, name, None)
    if before is None:
        yield
        return
    setattr(torch._C, name, lambda: None)
    try:
        yield
    finally:
        setattr(torch._C, name, before)


def _forget_answers() -> None:
    """Some remember that there was no GPU."""
    for name in ("torch.utils._triton", "torch._inductor.utils", "torch._dynamo.utils"):
        module = sys.modules.get(name)
        for value in list(vars(module).values()) if module else ():
            if isinstance(value, functools._lru_cache_wrapper):
                value.cache_clear()


def forks_can_use_gpu() -> bool:
    """Of a machine that has one. Where somebody has started the driver here, they cannot: they see no GPU, or an error."""
    if not os.path.exists("/dev/nvidiactl"):
        return True
    process = os.fork()
    if process == 0:
        _try_gpu()
    _, status = os.waitpid(process, 0)
    return status == 0


def _try_gpu() -> None:
    """In a process of its own; does not return."""
    code = 1
    try:
        import torch

        signal.alarm(LONGEST_TRY_SECONDS)
        code = 0 if torch.zeros(1, device="cuda").item() == 0.0 else 1
    finally:
        os._exit(code)


def read_request(connection: socket.socket) -> Request:
    size = MOST_DESCRIPTORS * array.array("i").itemsize
    message, attached, flags, _ = connection.recvmsg(MOST_MESSAGE_BYTES, socket.CMSG_SPACE(size))
    received = array.array("i")
    for level, kind, data in attached:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            received.frombytes(data[: len(data) - len(data) % received.itemsize])
    try:
        if flags & (socket.MSG_TRUNC | socket.MSG_CTRUNC):
            raise ValueError("a request that is too long")
        said = json.loads(message)
        pairs = list(zip(received, said["descriptors"], strict=True))
        return Request(said["module"], said["arguments"], said["environment"], pairs)
    except Exception:
        for descriptor in received:
            os.close(descriptor)
        raise


def become(request: Request, parent: int, threads: int) -> None:
    """In the new process; does not return."""
    code = 1
    try:
        os.setpgid(0, 0)
        _die_with(parent)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        _take_descriptors(request.descriptors)
        os.environ.clear()
        os.environ.update(request.environment)
        code = _run(request, threads)
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(Exception):
            sys.__stdout__.flush()
            sys.__stderr__.flush()
        os._exit(code)  # what libraries do at the end of a process was meant for our parent


def _run(request: Request, threads: int) -> int:
    import torch

    if threads > 0:
        torch.set_num_threads(threads)
    module = importlib.import_module(request.module)
    if hasattr(module, "__path__"):  # as python -m does with a package
        module = importlib.import_module(f"{request.module}.__main__")
    return int(module.main(request.arguments) or 0)


def _die_with(parent: int) -> None:
    ctypes.CDLL(None).prctl(DIE_WITH_PARENT, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(127)


def _take_descriptors(pairs: list[tuple[int, int]]) -> None:
    highest = max((2, *(number for pair in pairs for number in pair)))
    safe = []
    for ours, theirs in pairs:  # out of the way first, so that none overwrites one that is still needed
        moved = os.dup(ours)
        while moved <= highest:
            moved = os.dup(moved)
        safe.append((moved, theirs))
    for moved, theirs in safe:
        os.dup2(moved, theirs)
    os.closerange(max((2, *(theirs for _, theirs in pairs))) + 1, os.sysconf("SC_OPEN_MAX"))


class Nursery:
    def __init__(self, listening: socket.socket, threads: int) -> None:
        self._listening = listening
        self._threads = threads
        self._selector = selectors.DefaultSelector()
        self._selector.register(listening, selectors.EVENT_READ, self._accept)

    def serve(self) -> None:
        while True:
            for key, _ in self._selector.select():
                key.data()

    def _accept(self) -> None:
        connection, _ = self._listening.accept()
        try:
            connection.settimeout(10.0)
            request = read_request(connection)
        except Exception:
            connection.close()
            return
        parent = os.getpid()
        process = os.fork()
        if process == 0:
            become(request, parent, self._threads)
        with contextlib.suppress(OSError):  # both sides do it, so that it is done whoever comes first
            os.setpgid(process, process)
        for ours, _ in request.descriptors:
            os.close(ours)
        self._watch(process, connection)

    def _watch(self, process: int, connection: socket.socket) -> None:
        ended = os.pidfd_open(process)

        def end() -> None:
            """Its user has gone, or lets it go; the next event is its end."""
            with contextlib.suppress(OSError):
                os.killpg(process, signal.SIGKILL)
            self._selector.unregister(connection)

        def report() -> None:
            _, status = os.waitpid(process, 0)
            self._selector.unregister(ended)
            os.close(ended)
            with contextlib.suppress(KeyError):
                self._selector.unregister(connection)
            with contextlib.suppress(OSError):
                connection.send(str(status).encode())
            connection.close()

        self._selector.register(ended, selectors.EVENT_READ, report)
        self._selector.register(connection, selectors.EVENT_READ, end)
        try:
            connection.send(str(process).encode())
        except OSError:
            os.killpg(process, signal.SIGKILL)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="cudal1_bridge.nursery", description="Starts programs of the bridge.")
    parser.add_argument("--threads", type=int, default=0, help="of each program (default: as many as PyTorch wants)")
    options = parser.parse_args(arguments)
    listening = socket.socket(fileno=LISTENING_DESCRIPTOR)
    preload()
    if not forks_can_use_gpu():
        return 1  # whoever waits finds the door closed, and starts its programs itself
    gc.collect()
    gc.freeze()
    Nursery(listening, options.threads).serve()
    return 0


if __name__ == "__main__":
    sys.exit(main())
