"""Exported packages on a GPU: kernels, prepared weights, streams, threads, CUDA Graphs.

    CUDAL1=build/ci/bin/cudal1 python3 -m pytest -q tests/package/test_package_on_gpu.py
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from exporting import export_with, run_from_cpp

pytestmark = [
    pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU"),
    pytest.mark.filterwarnings("ignore:.*runs as the original does"),
]

# --- one kernel on weights that `prepare` has packed ------------------------------------------------------------------

AFFINE = """
import torch
from torch import nn

class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.scale = nn.Parameter(torch.randn(width))
        self.shift = nn.Parameter(torch.randn(width))

    def forward(self, x):
        return torch.relu(x * self.scale + self.shift)

def get_inputs(): return [torch.randn(64, 256)]
def get_init_inputs(): return [256]
"""

PACKED = r"""
//! buffer packed f32 [numel("scale"), 2]
//! prepare pack : grid=1 block=numel("scale") args=("scale", "shift", packed)
//! kernel affine replaces * : grid=x.size(0) block=x.size(1) args=(x, packed, relu_1)
extern "C" __global__ void pack(const float* scale, const float* shift, float* packed) {
  packed[2 * threadIdx.x] = scale[threadIdx.x];
  packed[2 * threadIdx.x + 1] = shift[threadIdx.x];
}
extern "C" __global__ void affine(const float* x, const float* packed, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = fmaxf(x[i] * packed[2 * threadIdx.x] + packed[2 * threadIdx.x + 1], 0.0f);
}
"""

# --- the same as two launches of a CUDA Graph, with memory of its own -------------------------------------------------

TWO_LAUNCHES = r"""
//! buffer product f32 [x.size(0), x.size(1)]
//! buffer ones f32 [x.size(1)] zero
//! group whole replaces mul_1 add_1 relu_1
//! launch multiply : grid=x.size(0) block=x.size(1) args=(x, "scale", product, ones)
//! launch finish : grid=x.size(0) block=x.size(1) args=(product, ones, "shift", relu_1)
//! graph
extern "C" __global__ void multiply(const float* x, const float* scale, float* product, float* ones) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  product[i] = x[i] * scale[threadIdx.x];
  if (blockIdx.x == 0) ones[threadIdx.x] += 1.0f;  // 2 in the second call unless the graph zeroes it
}
extern "C" __global__ void finish(const float* product, const float* ones, const float* shift, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = fmaxf(product[i] * ones[threadIdx.x] + shift[threadIdx.x], 0.0f);
}
"""

# --- two of three launches side by side; the last would see what the slow one has not written yet ---------------------

BRANCHED = r"""
//! buffer product f32 [x.size(0), x.size(1)]
//! buffer moved f32 [x.size(1)]
//! group whole replaces mul_1 add_1 relu_1
//! launch multiply : grid=x.size(0) block=x.size(1) args=(x, "scale", product)
//! launch move : grid=1 block=x.size(1) args=("shift", moved)
//! launch finish : grid=x.size(0) block=x.size(1) args=(product, moved, relu_1)
//! graph : branches=2
extern "C" __global__ void multiply(const float* x, const float* scale, float* product) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float one = fabsf(x[i]) < 1e30f ? 1.0f : 0.5f;
  for (int k = 0; k < 20000; ++k) one = one * 0.5f + 0.5f;  // takes long, and stays what it is
  product[i] = x[i] * scale[threadIdx.x] * one;
}
extern "C" __global__ void move(const float* shift, float* moved) { moved[threadIdx.x] = shift[threadIdx.x]; }
extern "C" __global__ void finish(const float* product, const float* moved, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = fmaxf(product[i] + moved[threadIdx.x], 0.0f);
}
"""

# --- library steps on two sides, with a slow kernel that reads what one of them has made ------------------------------

TOWERS = """
import torch
from torch import nn

class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first = nn.Linear(width, 128)
        self.second = nn.Linear(128, 128)
        self.beside = nn.Linear(width, 128)
        self.norm = nn.BatchNorm1d(128)

    def forward(self, x, y):
        left = torch.tanh(self.second(torch.tanh(self.first(x))))
        right = torch.softmax(torch.sigmoid(self.norm(self.beside(x))), 1)
        return left + right * y, right

def get_inputs(): return [torch.randn(64, 256), torch.randn(64, 128)]
def get_init_inputs(): return [256]
"""

BRANCHED_TOWERS = r"""
//! kernel slow replaces tanh_1 : grid=64 block=128 args=(linear_1, tanh_1)
//! graph : branches=2
extern "C" __global__ void slow(const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float one = blockIdx.x < 1000 ? 1.0f : 0.5f;
  for (int k = 0; k < 20000; ++k) one = one * 0.5f + 0.5f;
  y[i] = tanhf(x[i]) * one;
}
"""

# --- library steps around a kernel, in a CUDA Graph, with state that every call updates -------------------------------

MIXED = """
import torch
from torch import nn

class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first = nn.Linear(width, 128)
        self.norm = nn.BatchNorm1d(128)
        self.second = nn.Linear(128, 32)

    def forward(self, x, y):
        h = torch.relu(self.norm(self.first(x)))
        return self.second(h) + y, h

def get_inputs(): return [torch.randn(64, 256), torch.randn(64, 32)]
def get_init_inputs(): return [256]
"""

MIXED_GRAPH = r"""
//! kernel rectify replaces relu_1 : grid=64 block=128 args=(batch_norm_1, relu_1)
//! graph
extern "C" __global__ void rectify(const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[i] < 0.0f ? 0.0f : x[i];
}
"""

LIBRARY_GRAPH = "//! graph\n"


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    """Judged first, as a user's would be."""
    return export_with(tmp_path_factory.mktemp("packed"), AFFINE, "packed", PACKED)


@pytest.fixture(scope="module")
def two_launches(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    return export_with(tmp_path_factory.mktemp("two"), AFFINE, "two_launches", TWO_LAUNCHES)


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    return export_with(tmp_path_factory.mktemp("mixed"), MIXED, "mixed", MIXED_GRAPH)


@pytest.fixture(scope="module")
def library_graph(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    return export_with(tmp_path_factory.mktemp("library"), MIXED, "library_graph", LIBRARY_GRAPH)


@pytest.fixture(scope="module")
def branched(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    return export_with(tmp_path_factory.mktemp("branched"), AFFINE, "branched", BRANCHED)


@pytest.fixture(scope="module")
def towers(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    return export_with(tmp_path_factory.mktemp("towers"), TOWERS, "towers", BRANCHED_TOWERS)


@pytest.fixture(params=["packed", "two_launches", "branched"])
def affine(request: pytest.FixtureRequest) -> ModuleType:
    module: ModuleType = request.getfixturevalue(request.param)
    return module


@pytest.fixture(params=["packed", "two_launches", "branched", "mixed", "towers", "library_graph"])
def any_package(request: pytest.FixtureRequest) -> ModuleType:
    module: ModuleType = request.getfixturevalue(request.param)
    return module


CLAMPED = """
import torch
from torch import nn

class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.scale = nn.Parameter(torch.randn(width))

    def forward(self, x):
        return torch.relu(x * torch.minimum(self.scale, torch.log(torch.tensor(1.0 / 0.6))))

def get_inputs(): return [torch.randn(64, 256)]
def get_init_inputs(): return [256]
"""


@pytest.mark.parametrize("program", ["", LIBRARY_GRAPH])
def test_constants_that_forward_makes_follow_the_module(tmp_path: Path, program: str) -> None:
    name = "clamped_graph" if program else "clamped"
    package = export_with(tmp_path, CLAMPED, name, program)
    original, new = pair(package)
    check(package, original, new, calls=4)
    with torch.no_grad():
        for module in (original, new):
            module.scale.mul_(2.0)
    check(package, original, new)
    with torch.device("cuda"):
        made_there = package.ModelNew(256)
    made_there.load_state_dict(original.state_dict())
    check(package, original, made_there)


def pair(package: ModuleType) -> tuple[torch.nn.Module, Any]:
    torch.manual_seed(1)
    original = package.model._original.Model(256).cuda()
    new = package.ModelNew(256).cuda()
    new.load_state_dict(original.state_dict())
    return original, new


def inputs_of(package: ModuleType) -> list[torch.Tensor]:
    return [tensor.cuda() for tensor in package.model._original.get_inputs()]


def check(package: ModuleType, original: torch.nn.Module, new: Any, calls: int = 3) -> None:
    """The same results and the same state on fresh inputs at fresh addresses, by the program."""
    kept: list[Any] = []  # so that nothing lies where something lay before
    with torch.no_grad():
        for _ in range(calls):
            given = inputs_of(package)
            before = [tensor.clone() for tensor in given]
            result, expected = new(*given), original(*given)
            torch.testing.assert_close(result, expected, rtol=1e-4, atol=1e-4)
            assert package.why_not(new) == ""
            torch.testing.assert_close(given, before, rtol=0, atol=0)
            kept += [given, result, expected]
        results = kept[1::3]
        for earlier, expected in zip(results, kept[2::3], strict=True):  # later calls leave earlier results alone
            torch.testing.assert_close(earlier, expected, rtol=1e-4, atol=1e-4)
    for name, value in original.state_dict().items():
        torch.testing.assert_close(new.state_dict()[name], value, rtol=1e-4, atol=1e-4)


def test_gives_what_the_original_gives(any_package: ModuleType) -> None:
    original, new = pair(any_package)
    check(any_package, original, new, calls=6)


def test_other_weights_through_load_state_dict(any_package: ModuleType) -> None:
    original, new = pair(any_package)
    check(any_package, original, new)
    torch.manual_seed(2)
    other = any_package.model._original.Model(256).cuda()
    for module in (original, new):
        module.load_state_dict(other.state_dict())
    check(any_package, original, new)


def test_weights_that_move_to_the_processor_and_back(any_package: ModuleType) -> None:
    original, new = pair(any_package)
    check(any_package, original, new)
    new.cpu()
    with torch.no_grad():
        new(*[tensor.cpu() for tensor in inputs_of(any_package)])  # an eager call, of the original or of library steps
    new.load_state_dict(original.state_dict())
    new.cuda()
    check(any_package, original, new)


def test_weights_edited_in_place_and_replaced(affine: ModuleType) -> None:
    original, new = pair(affine)
    check(affine, original, new)
    with torch.no_grad():
        for module in (original, new):
            module.scale.mul_(2.0)
    check(affine, original, new)
    for module in (original, new):
        module.shift = torch.nn.Parameter(torch.full((256,), 0.25, device="cuda"))
    check(affine, original, new)


def test_edits_through_data_need_refresh(packed: ModuleType) -> None:
    original, new = pair(packed)
    check(packed, original, new)
    for module in (original, new):
        module.scale.data.add_(1.0)
    new.refresh()
    check(packed, original, new)


def test_an_optimiser_step_is_noticed(packed: ModuleType) -> None:
    original, new = pair(packed)
    check(packed, original, new)
    given = inputs_of(packed)
    for module in (original, new):
        optimiser = torch.optim.SGD(module.parameters(), lr=0.5)
        module(*given).sum().backward()
        optimiser.step()
    check(packed, original, new)


def test_two_streams(any_package: ModuleType) -> None:
    original, new = pair(any_package)
    check(any_package, original, new, calls=1)
    streams = [torch.cuda.Stream() for _ in range(3)]
    results: list[tuple[list[torch.Tensor], Any]] = []
    with torch.no_grad():
        for _ in range(10):
            for stream in streams:
                with torch.cuda.stream(stream):
                    stream.wait_stream(torch.cuda.default_stream())
                    given = inputs_of(any_package)
                    if list(new.buffers()):  # running statistics are shared: calls must come one after the other
                        torch.cuda.synchronize()
                    results.append((given, new(*given)))
        torch.cuda.synchronize()
        for given, result in results:
            torch.testing.assert_close(result, original(*given), rtol=1e-4, atol=1e-4)
    assert any_package.why_not(new) == ""


def test_more_streams_than_graphs_are_kept_for(two_launches: ModuleType) -> None:
    original, new = pair(two_launches)
    streams = [torch.cuda.Stream() for _ in range(12)]
    for _ in range(2):
        for stream in streams:
            with torch.cuda.stream(stream):
                check(two_launches, original, new, calls=2)


def in_threads(work: Callable[[], None], count: int = 2) -> None:
    problems: list[BaseException] = []

    def guarded() -> None:
        try:
            work()
        except BaseException as problem:  # noqa: BLE001
            problems.append(problem)

    threads = [threading.Thread(target=guarded) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if problems:
        raise problems[0]


@pytest.mark.parametrize("own_streams", [False, True])
def test_two_threads(affine: ModuleType, own_streams: bool) -> None:
    original, new = pair(affine)

    def work() -> None:
        stream = torch.cuda.Stream() if own_streams else torch.cuda.default_stream()
        with torch.cuda.stream(stream), torch.no_grad():
            stream.wait_stream(torch.cuda.default_stream())
            for _ in range(40):
                given = inputs_of(affine)
                torch.testing.assert_close(new(*given), original(*given), rtol=1e-4, atol=1e-4)

    in_threads(work)


def test_threads_that_are_the_first_to_call(library_graph: ModuleType) -> None:
    _, new = pair(library_graph)
    given = inputs_of(library_graph)
    torch.cuda.synchronize()

    def work() -> None:
        with torch.no_grad():
            for _ in range(20):
                new(*given)

    in_threads(work)
    torch.cuda.synchronize()
    assert int(new.norm.num_batches_tracked) == 40


def test_random_numbers_of_other_threads_while_graphs_are_captured(library_graph: ModuleType) -> None:
    given = inputs_of(library_graph)
    stop = threading.Event()
    drawn: list[int] = []

    def draw() -> None:
        with torch.cuda.stream(torch.cuda.Stream()):
            while not stop.is_set():
                drawn.append(torch.randn(1000, device="cuda").numel())

    def capture() -> None:
        try:
            with torch.no_grad():
                for _ in range(10):
                    _, new = pair(library_graph)
                    for _ in range(3):
                        new(*given)
        finally:
            stop.set()

    works = [draw, capture]
    in_threads(lambda: works.pop()())
    assert drawn


def test_inside_a_larger_module_with_hooks(affine: ModuleType) -> None:
    original, new = pair(affine)
    seen: list[str] = []
    outer = torch.nn.Sequential(torch.nn.Linear(256, 256).cuda(), new, torch.nn.Linear(256, 8).cuda())
    expected = torch.nn.Sequential(outer[0], original, outer[2])
    new.register_forward_hook(lambda module, args, result: seen.append("forward"))
    x = torch.randn(64, 256, device="cuda")
    with torch.no_grad():
        torch.testing.assert_close(outer(x), expected(x), rtol=1e-4, atol=1e-4)
    assert seen == ["forward"] and affine.why_not(new) == ""


def test_state_goes_to_a_file_and_back(mixed: ModuleType, tmp_path: Path) -> None:
    original, new = pair(mixed)
    check(mixed, original, new)
    torch.save(new.state_dict(), tmp_path / "state.pt")
    twin = mixed.ModelNew(256).cuda()
    twin.load_state_dict(torch.load(tmp_path / "state.pt", weights_only=True))
    check(mixed, original, twin)


def test_half_runs_as_the_original_and_float_by_the_program_again(affine: ModuleType) -> None:
    original, new = pair(affine)
    check(affine, original, new)
    given = [tensor.half() for tensor in inputs_of(affine)]
    with torch.no_grad():
        torch.testing.assert_close(new.half()(*given), original.half()(*given))
    assert "dtype" in affine.why_not(new)
    new.float()
    original.float()
    check(affine, original, new)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda x: x[:32], "sizes"),
        (lambda x: x.t().contiguous().t(), "strides"),
        (lambda x: x.cpu(), "cpu"),
        (lambda x: torch.empty(64 * 256 + 1, device="cuda").normal_()[1:].view(64, 256), "aligned"),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_falls_back_where_a_call_does_not_fit(affine: ModuleType, change: Any, reason: str) -> None:
    original, new = pair(affine)
    x = change(inputs_of(affine)[0])
    with torch.no_grad():
        if x.is_cuda:
            torch.testing.assert_close(new(x), original(x))
        else:
            with pytest.raises(RuntimeError):  # as the original does: weights and input lie on two devices
                new(x)
        assert reason in affine.why_not(new)
    check(affine, original, new)


def test_a_gradient_falls_back_with_one_warning(affine: ModuleType) -> None:
    original, new = pair(affine)
    affine.model._warned.clear()
    given = inputs_of(affine)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        result = new(*given)
        new(*given)
    assert len([warning for warning in seen if "gradient" in str(warning.message)]) == 1
    result.sum().backward()
    original(*given).sum().backward()
    torch.testing.assert_close(new.scale.grad, original.scale.grad)


@pytest.mark.parametrize("warm", [True, False])
def test_callers_may_capture_it(affine: ModuleType, warm: bool) -> None:
    original, new = pair(affine)
    if warm:
        check(affine, original, new)
    x = torch.randn(64, 256, device="cuda")
    graph = torch.cuda.CUDAGraph()
    with torch.no_grad(), torch.cuda.graph(graph):
        y = new(x)
    assert (affine.why_not(new) == "") == warm
    for _ in range(3):
        x.normal_()
        graph.replay()
        with torch.no_grad():
            torch.testing.assert_close(y, original(x), rtol=1e-4, atol=1e-4)
    check(affine, original, new)


def test_under_inference_mode(any_package: ModuleType) -> None:
    original, new = pair(any_package)
    with torch.inference_mode():
        for _ in range(4):
            given = inputs_of(any_package)
            torch.testing.assert_close(new(*given), original(*given), rtol=1e-4, atol=1e-4)
    check(any_package, original, new)


def test_a_graph_of_library_steps_is_launched_as_one(library_graph: ModuleType) -> None:
    _, new = pair(library_graph)
    given = inputs_of(library_graph)
    with torch.no_grad():
        for _ in range(3):
            new(*given)
        torch.cuda.synchronize()
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
            new(*given)
            torch.cuda.synchronize()
    assert not [event.key for event in profile.key_averages() if event.key in ("aten::addmm", "aten::linear")]


def test_kernels_are_compiled_where_the_cubin_of_this_gpu_is_missing(tmp_path: Path) -> None:
    package = export_with(tmp_path, AFFINE, "without_cubin", PACKED, "--no-verify")
    cubins = list((tmp_path / "without_cubin_package" / "cubins").iterdir())
    assert cubins
    for cubin in cubins:
        cubin.unlink()
    check(package, *pair(package))


SIZED = AFFINE.replace("torch.randn(64, 256)", "torch.randn(rows, 256)") + "rows = 64\n"


def test_programs_for_several_sizes(tmp_path: Path) -> None:
    package = export_with(tmp_path, SIZED, "sized", PACKED, "--shapes", "rows=16; x=128x256")
    original, new = pair(package)
    with torch.no_grad():
        for rows in (64, 16, 128, 16):
            x = torch.randn(rows, 256, device="cuda")
            torch.testing.assert_close(new(x), original(x), rtol=1e-4, atol=1e-4)
            assert package.why_not(new) == ""
        for module in (original, new):
            module.scale.mul_(3.0)
        for rows in (64, 16, 128):
            x = torch.randn(rows, 256, device="cuda")
            torch.testing.assert_close(new(x), original(x), rtol=1e-4, atol=1e-4)
        x = torch.randn(17, 256, device="cuda")
        torch.testing.assert_close(new(x), original(x))
        assert "sizes" in package.why_not(new)


@pytest.mark.parametrize("name", ["packed", "two_launches", "branched", "mixed", "towers"])
def test_cpp_gives_what_python_gives(request: pytest.FixtureRequest, name: str, tmp_path: Path) -> None:
    package: ModuleType = request.getfixturevalue(name)
    _, new = pair(package)
    package.save_weights(new, tmp_path / "weights")
    given = inputs_of(package)
    with torch.no_grad():
        result = new(*given)
    expected = [tensor.cpu() for tensor in (result if isinstance(result, tuple) else (result,))]
    outputs = [torch.empty_like(tensor) for tensor in expected]
    run_from_cpp(Path(package.__file__).parent, given, outputs, "--weights", str(tmp_path / "weights"))
    torch.testing.assert_close(outputs, expected, rtol=1e-4, atol=1e-4)
