"""python -m cudal1_solution.worker --device cuda: runs one solution, one call at a time, as the judge asks.

The judge's socket is descriptor 3, its memory descriptor 4. One JSON object comes in, one goes out:

    start                                                           starts the device, then restricts this process
    load      source, class, interface, weights, states, outputs    imports and constructs
    weights   where they lie                                        copied into the model, which exists already
    place     where the inputs will lie                             tensors on that memory, which holds nothing yet
    call                                                            {"device_ms", "joined_ms"}; the inputs are there now
    collect   where results go                                      checks what came out, copies it there
    keep                                                            compares the results of the call before, keeps these
    show      where weights go                                      copies the weights there as they are now

What goes wrong is {"failure": {"status", "message", "line", "details"}}.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import random
import resource
from pathlib import Path
from typing import Any

import torch

from .arena import DTYPES, Arena
from .channel import Channel
from .clock import CudaClock, HostClock
from .failures import failure_of
from .restriction import Restriction
from .results import EarlierResults, ResultChecks, tensors_of
from .solution import Solution, value_of
from .start import start_device

_copy, _empty, _view_bytes, _fill = torch.Tensor.copy_, torch.empty, torch.Tensor.view, torch.Tensor.fill_
_no_grad = torch.no_grad
_collect_garbage = gc.collect
_POISONS = (0xFF, 0x4B)  #: NaN in every floating type; about 1.3e7 in f32


class Worker:
    def __init__(self, device: torch.device, arena_bytes: int) -> None:
        self._device = device
        driver = start_device(device)
        self._clock = CudaClock(driver) if driver else HostClock()
        self._arena = Arena(4, arena_bytes, device, driver)
        self._earlier = EarlierResults()
        self._result: Any = None  #: of the call
        self._results: list[torch.Tensor] = []  #: the tensors in it, collected

    def load(self, request: dict[str, Any]) -> dict[str, Any]:
        torch.backends.cudnn.allow_tf32 = request["tf32_convolution"]
        torch.backends.cuda.matmul.allow_tf32 = request["tf32_matmul"]
        self._path = Path(request["path"])
        if "source" in request:
            self._path.write_text(request["source"], encoding="utf-8")
        self._interface = json.loads(request["interface"])
        construct = self._interface.get("construct", {"other": "value"})
        self._outputs = request["outputs"]
        self._checks = ResultChecks(self._outputs, self._device)
        self._earlier = EarlierResults()
        self._solution = Solution(self._path, request["class"], construct, self._device)
        self._solution.bind(request["weights"] + request["states"])
        self._state_keys = [leaf["key"] for leaf in request["states"]]
        _collect_garbage()
        gc.freeze()  # what is there now stays, and need not be looked at again before every call
        return {}

    def weights(self, request: dict[str, Any]) -> dict[str, Any]:
        self._solution.write({leaf["key"]: self._arena.tensor(leaf) for leaf in request["weights"]})
        self._clock.synchronize()
        return {}

    def place(self, request: dict[str, Any]) -> dict[str, Any]:
        self._result = None
        self._solution.write({leaf["key"]: self._arena.tensor(leaf) for leaf in request["states"]})
        inputs = [self._arena.tensor(meta) for meta in request["inputs"]]
        self._positional = [value_of(part, inputs) for part in self._interface["positional"]]
        self._named = {name: value_of(part, inputs) for name, part in self._interface["named"].items()}
        _collect_garbage()
        self._poison()
        self._clock.synchronize()
        return {}

    def _poison(self) -> None:
        """What an allocation finds, where nothing is written to it: blocks of the results' sizes are filled and freed."""
        with _no_grad():
            blocks = [_empty(tuple(meta["sizes"]), dtype=DTYPES[meta["dtype"]], device=self._device) for meta in self._outputs for _ in range(2)]
            pattern = random.choice(_POISONS)
            for block in blocks:
                if block.numel() > 0 and block.dim() > 0:
                    _fill(_view_bytes(block, torch.uint8), pattern)

    def call(self, request: dict[str, Any]) -> dict[str, Any]:
        model, positional, named = self._solution.model, self._positional, self._named
        with _no_grad():
            self._result, times = self._clock.time(lambda: model(*positional, **named))
        return times

    def collect(self, request: dict[str, Any]) -> dict[str, Any]:
        results = tensors_of(self._interface["outputs"], self._result)
        solution = self._solution
        constants = {key: tensor for key, tensor in solution.weights.items() if key not in self._state_keys}
        self._checks.check(results, constants, self._earlier.tensors, self._arena)
        with _no_grad():
            for tensor, meta in zip(results, request["outputs"]):
                _copy(self._arena.tensor(meta), tensor)
            for leaf in request["states"]:
                _copy(self._arena.tensor(leaf), solution.weights[leaf["key"]])
        self._clock.synchronize()
        self._results, self._result = results, None
        return {}

    def keep(self, request: dict[str, Any]) -> dict[str, Any]:
        """After the judge's clock has stopped: who left this out would have that much time to lie about."""
        with _no_grad():
            self._earlier.check()
            self._earlier.keep(self._results, self._outputs, [self._solution.weights[key] for key in self._state_keys])
        self._clock.synchronize()
        self._results = []
        return {}

    def show(self, request: dict[str, Any]) -> dict[str, Any]:
        with _no_grad():
            for leaf in request["weights"]:
                held = self._solution.weights.get(leaf["key"])
                if held is not None and held.dtype == DTYPES[leaf["dtype"]]:  # else it was rounded when it came
                    _copy(self._arena.tensor(leaf), held)
        self._clock.synchronize()
        return {}

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        what = request["do"]
        try:
            return self._actions[what](self, request)
        except BaseException as problem:
            doing = {"load": "the module", "call": "forward"}.get(what, what)
            return failure_of(problem, doing, getattr(self, "_path", None)).to_json()

    _actions = {"load": load, "weights": weights, "place": place, "call": call, "collect": collect, "keep": keep, "show": show}


def serve(worker: Worker, channel: Channel) -> None:
    gc.disable()  # a collection in the middle of a call is nobody's time
    awake = False
    while (request := channel.receive(awake)) is not None:
        channel.send(worker.answer(request))
        awake = request["do"] in ("place", "call")


def start(options: argparse.Namespace) -> Worker:
    """No solution's text is here yet. CUDA starts first, since its driver opens what is out of reach afterwards."""
    restriction = Restriction(options.restrict_library, options.policy)
    worker = Worker(torch.device(options.device), options.arena_bytes)
    resource.setrlimit(resource.RLIMIT_FSIZE, (options.largest_file, options.largest_file))
    restriction.apply()
    return worker


def main() -> None:
    parser = argparse.ArgumentParser(prog="cudal1_solution.worker")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--arena-bytes", type=int, required=True)
    parser.add_argument("--restrict-library", type=Path, required=True)
    parser.add_argument("--policy", required=True)
    parser.add_argument("--largest-file", type=int, required=True, help="in bytes, that the solution may write")
    options = parser.parse_args()
    channel = Channel(3)
    channel.receive()
    try:
        worker = start(options)
    except BaseException as problem:
        channel.send({"failure": {"status": "judge_error", "message": f"the solution's process does not start: {problem}"}})
        return
    channel.send({})
    serve(worker, channel)
    os._exit(0)


if __name__ == "__main__":
    main()
