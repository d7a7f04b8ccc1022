"""python -m cudal1_bridge.worker MODULE.py --device cuda: runs a module in several ways, one call at a time.

Somebody else decides which way comes next, on which inputs, and what the times mean: they write one JSON object a line
to standard input and read one back for each.

    {"do": "variants"}                           {"variants": ["eager", …]}
    {"do": "make", "variant": "compile"}         {"seconds": 12.3}
    {"do": "compile", "variant": "compile"}      {"seconds": 9.8}      as "make", but only to fill PyTorch's cache
    {"do": "package", "folder": "…"}             {"seconds": 0.2}      the way "program": an exported package's ModelNew
    {"do": "inputs", "seed": 7}                  {}                    what calls are made on from now on
    {"do": "time", "variant": "eager"}           {"device_ms": 0.11, "host_ms": 0.13}
    {"do": "rounds", "rounds": [{"seed": 8, "order": ["compile", "eager"]}, …], "seconds": 1.5, "least": 7}
                                                 {"times": [{"eager": [0.11, 0.13], "compile": [0.09, 0.1]}, …]}
                                                 new inputs a round, every way timed once in the order given, after a
                                                 few calls on earlier inputs; device and host ms; fewer rounds than
                                                 asked for, but not than "least", once the time is up
    {"do": "compare", "variant": "compile"}      {"random": false, "error": 1e-7, "scale": 3.2}   with eager, on these
                                                 inputs; random: the module draws numbers, so nothing can be compared;
                                                 own_error: where the error is large, how far eager itself is off

What goes wrong is {"failure": "one line"}; the worker stays. Each way has a model of its own, all with the weights of
the first.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import json
import math
import os
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch.utils._pytree import tree_leaves, tree_map

from .errors import BridgeError, first_line, with_place
from .module_file import ModuleFile, load_module_file
from .tensors import copied, plain_tensors, worst_difference
from .own_thread import OwnThread, Result
from .patience import cores_left_to_others
from .untried_kernels import kernels_untried
from .variants import VARIANTS, Call, Variant

FLUSHED_BYTES = 256 << 20  #: more than four times the second-level cache of an H200
MOST_REHEARSALS = 10  #: after these a processor does not get faster at a call
REHEARSAL_MS = 2.0  #: no more than this is spent on them, but for the first
LONG_CALL_MS = 20.0  #: of which the way to the first kernel is too small a part to be rehearsed
WORTH_A_LOOK = 0.01  #: of the largest number: ways that are off by less are like eager
OTHERS_FIRST = 10  #: niceness of those who compile ahead
PROGRAM = "program"


def rehearsals(slowest_ms: float) -> int:
    """How many calls come before each timed one, for every way of a module, the slowest of which takes that long.

    Ways take turns, so each finds the processor's caches and predictors full of others' code: a call of a few small ops
    then took 1.8 times as long as in a loop of nothing else; after one rehearsal 1.15, after five 1.02, after ten 1.00
    times. Of a long call, only the way to its first kernel is at stake."""
    if LONG_CALL_MS <= slowest_ms < math.inf:
        return 0
    return max(1, int(min(MOST_REHEARSALS, REHEARSAL_MS / max(slowest_ms, 1e-3))))


class Clock:
    """Calls on an idle device, timed as a plain loop would: events right around the call, and nothing else between."""

    def __init__(self, device: torch.device) -> None:
        self._cuda = device.type == "cuda"
        if self._cuda:
            self._flushed = torch.empty(FLUSHED_BYTES, dtype=torch.int8, device=device)
            self._start, self._end = (torch.cuda.Event(enable_timing=True) for _ in range(2))

    def time(self, call: Callable[[], Any]) -> dict[str, float]:
        """The device's caches hold nothing of the inputs."""
        if self._cuda:
            self._flushed.zero_()
        return self.rehearse(call)

    def rehearse(self, call: Callable[[], Any]) -> dict[str, float]:
        """The same, but for the caches."""
        if not self._cuda:
            begin = time.perf_counter()
            call()
            elapsed = 1e3 * (time.perf_counter() - begin)
            return {"device_ms": elapsed, "host_ms": elapsed}
        torch.cuda.synchronize()
        begin = time.perf_counter()
        self._start.record()
        result = call()
        self._end.record()
        torch.cuda.synchronize()
        elapsed = 1e3 * (time.perf_counter() - begin)
        del result  # freeing is not part of a call
        return {"device_ms": self._start.elapsed_time(self._end), "host_ms": elapsed}


class Worker:
    def __init__(self, file: ModuleFile, device: torch.device) -> None:
        self._file = file
        self._device = device
        self._clock = Clock(device)
        self._made: dict[str, tuple[Variant, Call]] = {}
        self._threads: defaultdict[str, OwnThread] = defaultdict(OwnThread)  # of ways that have one
        self._models: dict[str, torch.nn.Module] = {}
        self._plain_tensors: dict[str, list[tuple[torch.nn.Module, str, torch.Tensor]]] = {}  # before the first call
        self._why_no_program: Callable[[], str] = str
        self._is_random: bool | None = None  # nobody has looked
        self._weights: dict[str, torch.Tensor] | None = None
        self._slowest_ms = math.inf  # way, in the calmest round so far
        self._positional, self._named = self._drawn(0)
        self._earlier = self._positional, self._named

    def draw(self, seed: int) -> None:
        self._earlier = self._positional, self._named
        self._positional, self._named = self._drawn(seed)

    def _drawn(self, seed: int) -> tuple[list[Any], dict[str, Any]]:
        return tree_map(self._placed, self._file.make_inputs(seed, str(self._device)))

    def _placed(self, value: Any) -> Any:
        """Not all modules leave the choice of the device to PyTorch's default."""
        return value.to(self._device) if isinstance(value, torch.Tensor) else value

    def make(self, variant: Variant) -> float:
        return self._make(variant, self._file.make_model(0, str(self._device)).to(self._device))

    def make_program(self, folder: Path) -> float:
        sys.path.insert(0, str(folder.resolve().parent))
        try:
            package = importlib.import_module(folder.resolve().name)
        finally:
            sys.path.pop(0)
        arguments = self._file.init_arguments()
        torch.manual_seed(0)
        with torch.device(self._device):  # as the module's own constructor; on the processor large ones take long
            model = package.ModelNew(**arguments) if isinstance(arguments, dict) else package.ModelNew(*arguments)
        self._why_no_program = lambda: package.why_not(model)
        seconds = self._make(Variant(PROGRAM, lambda model, positional, named: model), model.to(self._device))
        try:
            self._check_program(PROGRAM)
        except BridgeError:
            del self._made[PROGRAM]
            raise
        return seconds

    def _make(self, variant: Variant, model: torch.nn.Module) -> float:
        begin = time.perf_counter()
        if self._weights is None:
            self._weights = {key: value.clone() for key, value in model.state_dict().items()}
        model.load_state_dict(self._weights)
        self._plain_tensors[variant.name] = plain_tensors(model)

        def first_call() -> Call:
            call = variant.make(model, self._positional, self._named)
            call(*self._positional, **self._named)
            return call

        with cores_left_to_others(self._device):
            call = self._run_as(variant, first_call)
            self._synchronize()
        if self._device.type == "cuda":
            torch.cuda.empty_cache()  # others make theirs at the same time
        self._made[variant.name] = (variant, call)
        self._models[variant.name] = model
        return time.perf_counter() - begin

    def time(self, name: str) -> dict[str, float]:
        """The last call of a short loop; those before are made on what was drawn earlier."""
        variant, call = self._find(name)
        positional, named = tree_map(copied, (self._positional, self._named))
        earlier_positional, earlier_named = self._earlier

        def last_of_a_loop() -> dict[str, float]:
            for _ in range(rehearsals(self._slowest_ms)):
                self._clock.rehearse(lambda: call(*earlier_positional, **earlier_named))
            return self._clock.time(lambda: call(*positional, **named))

        times = self._run_as(variant, last_of_a_loop)
        self._check_program(name)
        return times

    def rounds(self, rounds: list[dict[str, Any]], seconds: float, least: int) -> list[dict[str, list[float]]]:
        """Many timed calls in one request: a conversation about each of them would take longer than they do."""
        end = time.perf_counter() + seconds
        done: list[dict[str, list[float]]] = []
        for wanted in rounds:
            if len(done) >= least and time.perf_counter() >= end:
                break
            self.draw(wanted["seed"])
            timed = {name: self.time(name) for name in wanted["order"]}
            done.append({name: [times["device_ms"], times["host_ms"]] for name, times in timed.items()})
            self._slowest_ms = min(self._slowest_ms, max(times["device_ms"] for times in timed.values()))
        return done

    def compare(self, name: str) -> dict[str, Any]:
        """With eager mode, on these inputs, both from the weights and states of the first model."""
        if self._is_random is None:
            self._is_random = not _equal(self._results("eager", seed=0), self._results("eager", seed=1))
        if self._is_random:  # others draw other numbers
            return {"random": True, "error": 0.0, "scale": 0.0}
        wanted, given = (self._results(way, seed=0) for way in ("eager", name))
        if [(tensor.shape, tensor.dtype) for tensor in wanted] != [(tensor.shape, tensor.dtype) for tensor in given]:
            raise BridgeError(f"{name} gives other shapes or types than eager")
        error, scale = worst_difference(wanted, given)
        return {"random": False, "error": error, "scale": scale} | self._own_error(wanted, error, scale)

    def _own_error(self, wanted: list[torch.Tensor], error: float, scale: float) -> dict[str, float]:
        """How far eager itself is off where a way is off by much: a norm of two numbers that nearly agree, say, makes
        something else of them after the least change. In full fp32, and where inputs are off in their last digits."""
        if error <= WORTH_A_LOOK * scale:
            return {}
        with torch.backends.cudnn.flags(enabled=torch.backends.cudnn.enabled, allow_tf32=False):  # its default is off
            in_full = self._results("eager", seed=0)
        moved = self._results("eager", seed=0, inputs=tree_map(_moved, (self._positional, self._named)))
        return {"own_error": max(worst_difference(wanted, other)[0] for other in (in_full, moved))}

    def _results(self, name: str, seed: int, inputs: tuple[Any, Any] | None = None) -> list[torch.Tensor]:
        variant, call = self._find(name)
        positional, named = tree_map(copied, inputs or (self._positional, self._named))
        self._models[name].load_state_dict(self._weights or {})  # states may have gone on, in some more than in others
        for part, attribute, tensor in self._plain_tensors[name]:
            setattr(part, attribute, tensor)
        torch.manual_seed(seed)

        def leaves() -> list[torch.Tensor]:
            return [leaf for leaf in tree_leaves(call(*positional, **named)) if isinstance(leaf, torch.Tensor)]

        results = self._run_as(variant, leaves)
        self._check_program(name)
        return [leaf.clone() for leaf in results]  # the next call may write over them

    def _check_program(self, name: str) -> None:
        """A package that falls back to its original is no program, however fast."""
        if name == PROGRAM and (reason := self._why_no_program()):
            raise BridgeError(f"the package does not run its program: {reason}")

    def _run_as(self, variant: Variant, section: Callable[[], Result]) -> Result:
        """All of a section in the thread of the way: between the events of the clock nothing is handed over."""

        def as_the_way_wants() -> Result:
            with torch.no_grad(), variant.flags():
                return section()

        return self._threads[variant.name].run(as_the_way_wants) if variant.own_thread else as_the_way_wants()

    def _find(self, name: str) -> tuple[Variant, Call]:
        if name not in self._made:
            raise BridgeError(f"{name} was not made")
        return self._made[name]

    def _synchronize(self) -> None:
        if self._device.type == "cuda":
            torch.cuda.synchronize()


def _moved(value: Any) -> Any:
    if not isinstance(value, torch.Tensor) or not value.is_floating_point():
        return value
    return value * (1 + 4 * torch.finfo(value.dtype).eps * (torch.rand_like(value) - 0.5))


def _equal(first: list[torch.Tensor], second: list[torch.Tensor]) -> bool:
    return all(torch.equal(a.nan_to_num(), b.nan_to_num()) for a, b in zip(first, second, strict=True))


def answer(worker: Worker, request: dict[str, Any]) -> dict[str, Any]:
    match request:
        case {"do": "variants"}:
            return {"variants": list(VARIANTS)}
        case {"do": "make", "variant": name} if name in VARIANTS:
            return {"seconds": worker.make(VARIANTS[name])}
        case {"do": "compile", "variant": name} if name in VARIANTS:
            os.nice(max(0, OTHERS_FIRST - os.nice(0)))  # what is not compiled ahead can be compiled later
            with kernels_untried():
                return {"seconds": worker.make(VARIANTS[name])}
        case {"do": "package", "folder": folder}:
            return {"seconds": worker.make_program(Path(folder))}
        case {"do": "inputs", "seed": seed}:
            worker.draw(seed)
            return {}
        case {"do": "time", "variant": name}:
            return worker.time(name)
        case {"do": "rounds", "rounds": rounds, "seconds": seconds, "least": least}:
            return {"times": worker.rounds(rounds, seconds, least)}
        case {"do": "compare", "variant": name}:
            return worker.compare(name)
    raise BridgeError(f"cannot do {json.dumps(request)}")


def serve(worker: Worker) -> None:
    gc.disable()  # a collection in the middle of a call is nobody's time
    for line in sys.stdin:
        try:
            said = answer(worker, json.loads(line))
        except Exception as problem:
            said = {"failure": f"{type(problem).__name__}: {first_line(problem)}" if not isinstance(problem, BridgeError) else str(problem)}
        gc.collect()
        gc.freeze()  # compilers leave millions of objects, which the next collection need not look at
        sys.__stdout__.write(json.dumps(said) + "\n")
        sys.__stdout__.flush()


def _set_compile_threads() -> None:
    """PyTorch looks at the environment when it is loaded, which may have been in another process (nursery.py)."""
    config = sys.modules.get("torch._inductor.config")
    wanted = os.environ.get("TORCHINDUCTOR_COMPILE_THREADS")
    if config and wanted:
        config.compile_threads = int(wanted)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="cudal1_bridge.worker", description="Runs a module in several ways.")
    parser.add_argument("module", type=Path, help="a file with Model, get_inputs and get_init_inputs")
    parser.add_argument("--device", default="cpu", help="cpu or cuda (default: cpu)")
    options = parser.parse_args(arguments)
    sys.stdout = sys.stderr  # what modules print is not an answer
    _set_compile_threads()
    try:
        serve(Worker(load_module_file(options.module), torch.device(options.device)))
    except BridgeError as problem:
        print(f"cudal1: {with_place(problem, options.module.resolve())}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
