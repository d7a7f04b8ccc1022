from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from cudal1_bridge.errors import BridgeError
from cudal1_bridge.module_file import ModuleFile, load_module_file
from cudal1_bridge.own_thread import OwnThread
from cudal1_bridge.tensors import copied, worst_difference
from cudal1_bridge.untried_kernels import kernels_untried
from cudal1_bridge.variants import VARIANTS
from cudal1_bridge.worker import MOST_REHEARSALS, Clock, Worker, rehearsals

CONVOLUTION = """
class Model(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv2d(3, channels, 3)

    def forward(self, x, scale=1.0):
        print("modules may print")
        return torch.relu(self.conv(x)) * scale

def get_inputs(): return {"x": torch.rand(2, 3, 8, 8), "scale": 2.0}
def get_init_inputs(): return [4]
"""


class Conversation:
    def __init__(self, module: Path) -> None:
        command = [sys.executable, "-m", "cudal1_bridge.worker", str(module)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, **request: Any) -> dict[str, Any]:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def end(self) -> int:
        assert self._process.stdin
        self._process.stdin.close()
        return self._process.wait(timeout=30)


@pytest.fixture
def conversation(module_file: Callable[[str], Path]) -> Iterator[Conversation]:
    made = Conversation(module_file(CONVOLUTION))
    yield made
    assert made.end() == 0


def test_times_and_compares_the_ways_that_were_made(conversation: Conversation) -> None:
    assert conversation.ask(do="variants")["variants"] == list(VARIANTS)
    for name in ("eager", "cudnn-benchmark", "channels-last"):
        assert conversation.ask(do="make", variant=name)["seconds"] >= 0.0
    assert conversation.ask(do="inputs", seed=5) == {}
    for name in ("eager", "cudnn-benchmark", "channels-last"):
        assert conversation.ask(do="time", variant=name)["device_ms"] > 0.0
        difference = conversation.ask(do="compare", variant=name)
        assert difference["error"] <= 1e-5 * difference["scale"]


REMEMBERS_ITS_INPUTS = """
class Model(nn.Module):
    seen = []
    def forward(self, x):
        Model.seen.append((x.data_ptr(), x.clone()))
        return x + 1
def get_inputs(): return [torch.rand(1000)]
"""


class RecordingClock(Clock):
    """Takes as many milliseconds as it is told to, and notes which calls count."""

    def __init__(self, milliseconds: float) -> None:
        super().__init__(torch.device("cpu"))
        self._milliseconds = milliseconds
        self.made: list[str] = []

    def time(self, call: Callable[[], Any]) -> dict[str, float]:
        times = super().time(call)
        self.made[-1] = "timed"
        return times

    def rehearse(self, call: Callable[[], Any]) -> dict[str, float]:
        self.made.append("rehearsal")
        super().rehearse(call)
        return {"device_ms": self._milliseconds, "host_ms": self._milliseconds}


def worker_of(file: ModuleFile, ways: list[str]) -> Worker:
    worker = Worker(file, torch.device("cpu"))
    for name in ways:
        worker.make(VARIANTS[name])
    file.module.Model.seen.clear()
    return worker


def test_rounds_time_every_way_on_the_same_new_inputs(module_file: Callable[[str], Path]) -> None:
    file = load_module_file(module_file(REMEMBERS_ITS_INPUTS))
    worker = worker_of(file, ["eager", "cudnn-benchmark"])
    clock = worker._clock = RecordingClock(0.1)
    rounds = [{"seed": seed, "order": ["cudnn-benchmark", "eager"]} for seed in range(4)]
    times = worker.rounds(rounds, seconds=100.0, least=1)
    assert [list(round) for round in times] == [["cudnn-benchmark", "eager"]] * 4
    assert all(ms > 0.0 for round in times for pair in round.values() for ms in pair)
    values = [x for (_, x), made in zip(file.module.Model.seen, clock.made, strict=True) if made == "timed"]
    assert len(values) == 8
    assert torch.equal(values[0], values[1]) and not torch.equal(values[1], values[2])


def test_a_timed_call_is_rehearsed_on_other_inputs(module_file: Callable[[str], Path]) -> None:
    file = load_module_file(module_file(REMEMBERS_ITS_INPUTS))
    worker = worker_of(file, ["eager"])
    clock = worker._clock = RecordingClock(0.1)
    worker.rounds([{"seed": seed, "order": ["eager"]} for seed in (1, 2, 3)], seconds=100.0, least=1)
    rehearsed = ["rehearsal"] * MOST_REHEARSALS + ["timed"]
    assert clock.made == ["rehearsal", "timed"] + rehearsed * 2  # of the first round nobody knows how long it takes
    addresses, values = zip(*file.module.Model.seen[-len(rehearsed) :])
    assert len(set(addresses[:-1])) == 1 and addresses[-1] != addresses[0]
    assert not torch.equal(values[-1], values[-2])


def test_all_ways_are_rehearsed_alike_and_long_calls_less(module_file: Callable[[str], Path]) -> None:
    assert rehearsals(0.0) == rehearsals(0.01) == rehearsals(0.1) == MOST_REHEARSALS
    assert (rehearsals(0.5), rehearsals(2.0), rehearsals(50.0)) == (4, 1, 0)
    file = load_module_file(module_file(REMEMBERS_ITS_INPUTS))
    worker = worker_of(file, ["eager", "cudnn-benchmark"])
    clock = worker._clock = RecordingClock(0.9)
    order = ["eager", "cudnn-benchmark"]
    worker.rounds([{"seed": seed, "order": order} for seed in (1, 2)], seconds=100.0, least=1)
    assert clock.made == ["rehearsal", "timed"] * 2 + ["rehearsal", "rehearsal", "timed"] * 2
    clock._milliseconds = 1000.0  # a hiccup does not change how the next ones are timed
    worker.rounds([{"seed": 3, "order": order}, {"seed": 4, "order": order}], seconds=100.0, least=2)
    assert clock.made[-12:] == ["rehearsal", "rehearsal", "timed"] * 4


NOTES_WHERE_IT_RUNS = """
import threading

class Model(nn.Module):
    seen = []
    def forward(self, x):
        Model.seen.append((threading.get_ident(), torch.backends.cudnn.benchmark, torch.is_grad_enabled()))
        return x + 1
def get_inputs(): return [torch.rand(10)]
"""


class ThreadNotingClock(Clock):
    """Which thread reads the clock?"""

    def __init__(self) -> None:
        super().__init__(torch.device("cpu"))
        self.threads: list[int] = []

    def rehearse(self, call: Callable[[], Any]) -> dict[str, float]:
        self.threads.append(threading.get_ident())
        return super().rehearse(call)


def test_cudnn_benchmark_has_a_thread_of_its_own_for_calls_and_clock(module_file: Callable[[str], Path]) -> None:
    file = load_module_file(module_file(NOTES_WHERE_IT_RUNS))
    worker = Worker(file, torch.device("cpu"))
    clock = worker._clock = ThreadNotingClock()
    here, seen = threading.get_ident(), file.module.Model.seen
    ran: dict[str, set[tuple[int, bool, bool]]] = {"eager": set(), "cudnn-benchmark": set()}

    def note(name: str, clocked: bool) -> None:
        assert {thread for thread, _, _ in seen} == set(clock.threads) or not clocked
        ran[name] |= set(seen)
        seen.clear()
        clock.threads.clear()

    for name in ("eager", "cudnn-benchmark", "eager"):
        worker.make(VARIANTS[name])
        note(name, clocked=False)
    for name in ("eager", "cudnn-benchmark", "cudnn-benchmark", "eager"):
        worker.rounds([{"seed": 1, "order": [name]}], seconds=100.0, least=1)
        note(name, clocked=True)
    worker._results("cudnn-benchmark", seed=0)
    note("cudnn-benchmark", clocked=False)
    assert ran["eager"] == {(here, False, False)}
    ((thread, benchmark, grad),) = ran["cudnn-benchmark"]
    assert thread != here and benchmark and not grad
    assert not torch.backends.cudnn.benchmark and torch.is_grad_enabled()


FAILS_AT_ITS_SECOND_CALL = """
class Model(nn.Module):
    calls = 0
    def forward(self, x):
        Model.calls += 1
        if Model.calls == 2: raise ValueError("not again")
        return x + 1
def get_inputs(): return [torch.rand(10)]
"""


@pytest.mark.parametrize("name", ["eager", "cudnn-benchmark"])
def test_what_a_call_raises_comes_through_and_the_way_stays(module_file: Callable[[str], Path], name: str) -> None:
    worker = Worker(load_module_file(module_file(FAILS_AT_ITS_SECOND_CALL)), torch.device("cpu"))
    worker.make(VARIANTS[name])
    with pytest.raises(ValueError, match="not again"):
        worker.time(name)
    assert worker.time(name)["device_ms"] > 0.0
    assert not torch.backends.cudnn.benchmark


def kernels_of(work: Callable[[], Any]) -> int:
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        work()
        torch.cuda.synchronize()
    return sum(event.device_type == torch.autograd.DeviceType.CUDA for event in profile.events())


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
def test_cudnn_benchmark_tries_plans_although_eager_mode_has_one(module_file: Callable[[str], Path]) -> None:
    worker = Worker(load_module_file(module_file(CONVOLUTION)), torch.device("cuda"))
    worker.make(VARIANTS["eager"])
    of_one_plan = kernels_of(lambda: worker.make(VARIANTS["eager"]))
    of_the_choice, of_the_chosen = (kernels_of(lambda: worker.make(VARIANTS["cudnn-benchmark"])) for _ in range(2))
    assert of_the_choice > of_one_plan and of_the_choice > of_the_chosen


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
def test_an_own_thread_works_on_the_stream_of_who_asks() -> None:
    thread, stream = OwnThread(), torch.cuda.Stream()
    with torch.cuda.stream(stream):
        assert thread.run(torch.cuda.current_stream) == stream
    assert thread.run(torch.cuda.current_stream) == torch.cuda.default_stream()


def test_rounds_end_when_the_time_is_up(module_file: Callable[[str], Path]) -> None:
    worker = Worker(load_module_file(module_file(CONVOLUTION)), torch.device("cpu"))
    worker.make(VARIANTS["eager"])
    rounds = [{"seed": seed, "order": ["eager"]} for seed in range(50)]
    assert len(worker.rounds(rounds, seconds=0.0, least=3)) == 3


def test_a_way_keeps_what_it_compiled_when_another_is_made(
    module_file: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or the first timed call of `compile` would compile again."""
    worker = Worker(load_module_file(module_file(CONVOLUTION)), torch.device("cpu"))
    made: list[str] = []

    def counting(graph: torch.fx.GraphModule, inputs: list[torch.Tensor]) -> Callable[..., Any]:
        made.append("graph")
        return graph.forward

    compile_with = torch.compile
    monkeypatch.setattr(torch, "compile", lambda model, mode=None: compile_with(model, backend=counting))
    for name in ("compile", "compile-reduce-overhead"):
        worker.make(VARIANTS[name])
    count = len(made)
    worker.time("compile")
    assert count > 0 and len(made) == count


def test_failures_are_answers(conversation: Conversation) -> None:
    assert conversation.ask(do="time", variant="eager") == {"failure": "eager was not made"}
    assert "need a GPU" in conversation.ask(do="make", variant="cuda-graph")["failure"] or torch.cuda.is_available()
    assert "cannot do" in conversation.ask(do="something")["failure"]
    assert "cannot do" in conversation.ask(do="make", variant="nothing")["failure"]
    assert "no_such_package" in conversation.ask(do="package", folder="no_such_package")["failure"]
    assert conversation.ask(do="make", variant="eager")["seconds"] >= 0.0


def test_all_ways_compute_with_the_same_weights(module_file: Callable[[str], Path]) -> None:
    worker = Worker(load_module_file(module_file(CONVOLUTION)), torch.device("cpu"))
    for name in ("eager", "channels-last"):
        worker.make(VARIANTS[name])
    worker._made["eager"][1].conv.weight.data.mul_(2.0)  # as a state that has gone on: each comparison begins anew
    assert worker.compare("channels-last")["error"] < 1e-4
    variant, call = worker._made["channels-last"]
    worker._made["channels-last"] = variant, lambda **named: 2.0 * call(**named)
    assert worker.compare("channels-last")["error"] > 0.01


def test_comparisons_begin_with_the_state_of_the_first_call(module_file: Callable[[str], Path]) -> None:
    text = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = torch.ones(3)

    def forward(self, x):
        self.hidden = self.hidden * 2.0 + x
        return self.hidden

def get_inputs(): return [torch.rand(3)]
"""
    worker = Worker(load_module_file(module_file(text)), torch.device("cpu"))
    for name in ("eager", "cudnn-benchmark"):
        worker.make(VARIANTS[name])
    worker.time("eager")
    assert worker.compare("cudnn-benchmark") == {"random": False, "error": 0.0, "scale": pytest.approx(2.5, abs=0.5)}


def test_what_draws_random_numbers_is_not_compared(module_file: Callable[[str], Path]) -> None:
    text = CONVOLUTION.replace("return torch.relu", "return torch.rand(()) + torch.relu")
    worker = Worker(load_module_file(module_file(text)), torch.device("cpu"))
    worker.make(VARIANTS["eager"])
    assert worker.compare("eager") == {"random": True, "error": 0.0, "scale": 0.0}


def test_a_program_that_falls_back_is_no_program(module_file: Callable[[str], Path]) -> None:
    worker = Worker(load_module_file(module_file(CONVOLUTION)), torch.device("cpu"))
    worker.make(VARIANTS["eager"])
    for table in (worker._made, worker._models, worker._plain_tensors):
        table["program"] = table["eager"]
    worker.time("program")
    worker._why_no_program = lambda: "y has other strides"
    for use in (worker.time, worker.compare):
        with pytest.raises(BridgeError, match="does not run its program: y has other strides"):
            use("program")


@pytest.mark.parametrize(
    "value",
    [torch.rand(8, 64)[:, ::2], torch.rand(4, 6).t(), torch.rand(3, 1).expand(3, 5), torch.rand(9)[2:], torch.tensor(2.0), torch.arange(6).view(2, 3)],
    ids=["gaps", "transposed", "expanded", "offset", "number", "integers"],
)
def test_copies_lie_elsewhere_in_the_same_layout(value: torch.Tensor) -> None:
    copy = copied(value)
    assert torch.equal(copy, value) and copy.stride() == value.stride() and copy.data_ptr() != value.data_ptr()


def test_the_worst_result_counts_by_its_size() -> None:
    large, small = torch.tensor([1000.0, 1.0]), torch.tensor([1e-3, 0.0])
    error, scale = worst_difference([large, small], [large + 0.1, small + 1e-4])
    assert (error, scale) == pytest.approx((1e-4, 1e-3))
    assert worst_difference([torch.tensor([1, 2, 3, 4])], [torch.tensor([1, 2, 3, 5])]) == (0.25, 1.0)
    both = torch.tensor([float("nan"), 1.0])
    assert worst_difference([both], [both]) == (0.0, 1.0)
    assert worst_difference([both], [torch.tensor([float("nan"), float("nan")])])[0] >= 0.5


def test_every_call_gets_inputs_at_new_addresses(module_file: Callable[[str], Path]) -> None:
    file = load_module_file(module_file(REMEMBERS_ITS_INPUTS))
    worker = worker_of(file, ["eager"])
    worker.draw(1)
    own = worker._positional[0].data_ptr()
    worker.time("eager")
    worker.draw(2)
    worker.time("eager")
    first, second = file.module.Model.seen[1::2]  # each after a rehearsal
    assert first[0] != own
    assert not torch.equal(first[1], second[1])


def test_only_the_call_is_between_the_events(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand-ins for a GPU's parts note what happens in which order."""
    happened: list[str] = []

    class Part:
        def __init__(self, name: str) -> None:
            self._name = name

        def record(self) -> None:
            happened.append(self._name)

        zero_ = record

        def elapsed_time(self, end: Part) -> float:
            return 0.25

    clock = Clock(torch.device("cpu"))
    clock._cuda = True
    clock._flushed, clock._start, clock._end = Part("flush"), Part("start"), Part("end")  # type: ignore[assignment]
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: happened.append("wait"))
    assert clock.time(lambda: happened.append("call"))["device_ms"] == 0.25
    assert happened == ["flush", "wait", "start", "call", "end", "wait"]
    happened.clear()
    clock.rehearse(lambda: happened.append("call"))
    assert happened == ["wait", "start", "call", "end", "wait"]


def test_compiles_for_the_cache_without_trying_kernels(conversation: Conversation) -> None:
    assert conversation.ask(do="compile", variant="eager")["seconds"] >= 0.0
    assert "cannot do" in conversation.ask(do="compile", variant="unheard")["failure"]


def test_kernels_are_neither_tried_nor_noted_while_compiling_for_the_cache() -> None:
    tuner = pytest.importorskip("torch._inductor.runtime.triton_heuristics").CachingAutotuner
    notes = pytest.importorskip("torch._inductor.runtime.autotune_cache").AutotuneCache
    before = tuner.bench, notes.save
    with kernels_untried():
        assert tuner.bench(None, "launcher", stream=0) == tuner.bench(None, "another")
        assert notes.save(None, "config", 1) is None
    assert (tuner.bench, notes.save) == before


NEARLY_EQUAL = """
class Model(nn.Module):
    def forward(self, x):
        centred = x - x.mean(0)
        return centred / centred.std(0)
def get_inputs(): return [torch.full((2, 64), 1.0) + 1e-7 * torch.rand(2, 64)]
"""


def test_eager_says_how_far_it_is_off_itself(module_file: Callable[[str], Path]) -> None:
    worker = Worker(load_module_file(module_file(NEARLY_EQUAL)), torch.device("cpu"))
    for name in ("eager", "cudnn-benchmark"):
        worker.make(VARIANTS[name])
    assert "own_error" not in worker.compare("cudnn-benchmark")
    variant, call = worker._made["cudnn-benchmark"]
    worker._made["cudnn-benchmark"] = variant, lambda x: -call(x)
    difference = worker.compare("cudnn-benchmark")
    assert difference["own_error"] > 0.4 * difference["error"] > 0.4


def test_a_wrong_way_of_a_steady_module_is_far_from_what_eager_is_off(module_file: Callable[[str], Path]) -> None:
    worker = Worker(load_module_file(module_file(CONVOLUTION)), torch.device("cpu"))
    for name in ("eager", "channels-last"):
        worker.make(VARIANTS[name])
    variant, call = worker._made["channels-last"]
    worker._made["channels-last"] = variant, lambda **named: 2.0 * call(**named)
    difference = worker.compare("channels-last")
    assert 0.0 <= difference["own_error"] < 1e-3 * difference["error"]


KNOWS_ITS_FLAGS = """
class Model(nn.Module):
    flags = []
    def forward(self, x):
        Model.flags.append((torch.backends.cudnn.enabled, torch.backends.cudnn.allow_tf32))
        return x + 1
def get_inputs(): return [torch.rand(10)]
"""


def test_eager_is_in_full_fp32_once_and_otherwise_as_it_was(module_file: Callable[[str], Path]) -> None:
    worker = Worker(load_module_file(module_file(KNOWS_ITS_FLAGS)), torch.device("cpu"))
    for name in ("eager", "cudnn-benchmark"):
        worker.make(VARIANTS[name])
    variant, call = worker._made["cudnn-benchmark"]
    worker._made["cudnn-benchmark"] = variant, lambda x: 2.0 * call(x)
    flags = type(worker._models["eager"]).flags
    flags.clear()
    assert worker.compare("cudnn-benchmark")["own_error"] < 1e-5
    assert flags.count((True, False)) == 1 and set(flags) == {(True, True), (True, False)}
