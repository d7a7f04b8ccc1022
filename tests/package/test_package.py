"""Exported packages as their users see them. CUDAL1 names the program under test.

Kernels need a GPU; what surrounds them, and programs of library calls, do not.
"""

from __future__ import annotations

import copy
import pickle
import subprocess
import threading
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from exporting import CUDAL1, export, export_with

DEVICES = ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]

MODULE = """
import torch
from torch import nn

class Model(nn.Module):
    def __init__(self, width, slope=0.1):
        super().__init__()
        self.first = nn.Linear(width, 32)
        self.norm = nn.BatchNorm1d(32)
        self.slope = slope

    def forward(self, x, y):
        x = nn.functional.leaky_relu(self.norm(self.first(x)), self.slope)
        return x + y

def get_inputs(): return [torch.rand(16, 8), torch.rand(16, 32)]
def get_init_inputs(): return [8]
"""

RELU = """
import torch

class Model(torch.nn.Module):
    def forward(self, x): return torch.relu(x)

def get_inputs(): return [torch.rand(64, 256)]
"""

STRUCTURES = """
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.table = torch.arange(4.0)

    def forward(self, pair, scale, extra=None):
        a, b = pair
        return {"sum": a + b * scale, "parts": [a - b, (b + self.table,)]}

def get_inputs(): return [[torch.rand(4), torch.rand(4)], 3]
"""


CONSTANTS = """
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.rand(4))
        self.shift = torch.tensor(0.5)

    def forward(self, x):
        return x * torch.clamp(self.scale, max=torch.log(torch.tensor(1.0 / 0.6))) + self.shift

def get_inputs(): return [torch.rand(3, 4)]
"""


class Mine(torch.Tensor):
    """A subclass may mean anything."""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    return export(tmp_path_factory.mktemp("package"), MODULE, "perceptron", "--no-verify")


@pytest.fixture(params=DEVICES)
def device(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def pair(package: ModuleType, device: str) -> tuple[torch.nn.Module, torch.nn.Module]:
    torch.manual_seed(1)
    original = package.model._original.Model(8).to(device)
    new = package.ModelNew(8).to(device)
    new.load_state_dict(original.state_dict())
    return original, new


def inputs(device: str) -> list[torch.Tensor]:
    return [torch.rand(16, 8, device=device), torch.rand(16, 32, device=device)]


def ran(package: ModuleType, module: Any) -> bool:
    return package.why_not(module) == ""


def test_gives_what_the_original_gives_and_updates_its_state(package: ModuleType, device: str) -> None:
    original, new = pair(package, device)
    for _ in range(3):
        given = inputs(device)
        with torch.no_grad():
            torch.testing.assert_close(new(*given), original(*given))
        assert ran(package, new)
    for name, value in original.state_dict().items():
        torch.testing.assert_close(new.state_dict()[name], value)


def test_takes_other_weights_at_any_time(package: ModuleType, device: str) -> None:
    original, new = pair(package, device)
    given = inputs(device)
    with torch.no_grad():
        new(*given)
        original(*given)
        torch.manual_seed(2)
        other = package.model._original.Model(8).to(device)
        new.load_state_dict(other.state_dict())
        original.load_state_dict(other.state_dict())
        torch.testing.assert_close(new(*given), original(*given))
        for module in (new, original):
            module.first.weight.mul_(2.0)
            module.first.bias = torch.nn.Parameter(torch.ones(32, device=device))
        torch.testing.assert_close(new(*given), original(*given))
    assert ran(package, new)


def test_state_goes_to_a_file_and_back(package: ModuleType, device: str, tmp_path: Path) -> None:
    original, new = pair(package, device)
    torch.save(new.state_dict(), tmp_path / "state.pt")
    original.load_state_dict(torch.load(tmp_path / "state.pt", weights_only=True))
    assert list(new.state_dict()) == list(original.state_dict())


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda module: pickle.loads(pickle.dumps(module))])
def test_can_be_copied(package: ModuleType, device: str, duplicate: Any) -> None:
    _, new = pair(package, device)
    given = inputs(device)
    with torch.no_grad():
        twin = duplicate(new)
        torch.testing.assert_close(twin(*given), new(*given))
        twin.first.weight.zero_()
        assert not torch.equal(twin(*given), new(*given))
    assert ran(package, twin)


def test_works_inside_a_larger_module_and_by_keyword(package: ModuleType, device: str) -> None:
    original, new = pair(package, device)
    x, y = inputs(device)

    class Outer(torch.nn.Module):
        def __init__(self, inner: torch.nn.Module) -> None:
            super().__init__()
            self.inner = inner

        def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return self.inner(x, y=y).sum()

    with torch.no_grad():
        torch.testing.assert_close(Outer(new)(x, y), Outer(original)(x, y))
    assert ran(package, new)


def test_falls_back_where_a_gradient_is_needed_with_one_warning(package: ModuleType, device: str) -> None:
    original, new = pair(package, device)
    given = inputs(device)
    package.model._warned.clear()
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        result = new(*given)
        new(*given)
    assert len([warning for warning in seen if "gradient" in str(warning.message)]) == 1
    torch.testing.assert_close(result, original(*given))
    result.sum().backward()
    assert new.first.weight.grad is not None


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda module, x, y: (module, x[:8], y[:8]), "sizes"),
        (lambda module, x, y: (module.double(), x.double(), y.double()), "dtype"),
        (lambda module, x, y: (module, x.t().contiguous().t(), y), "strides"),
        (lambda module, x, y: (module.eval(), x, y), "training"),
        (lambda module, x, y: (setattr(module, "slope", 0.5) or module, x, y), "slope"),
        (lambda module, x, y: (module, x.clone().as_subclass(Mine), y), "plain tensor"),
    ],
)
def test_falls_back_where_a_call_does_not_fit(package: ModuleType, device: str, change: Any, reason: str) -> None:
    original, new = pair(package, device)
    x, y = inputs(device)
    with torch.no_grad():
        changed, *given = change(new, x, y)
        result = changed(*given)
        assert reason in package.why_not(changed)
        original, *given = change(original, x, y)
        torch.testing.assert_close(result.as_subclass(torch.Tensor), original(*given).as_subclass(torch.Tensor))


@pytest.mark.filterwarnings("ignore")
def test_other_constructor_arguments_run_as_the_original(package: ModuleType, device: str) -> None:
    new = package.ModelNew(8, 0.7).to(device)
    original = package.model._original.Model(8, slope=0.7).to(device)
    original.load_state_dict(new.state_dict())
    given = inputs(device)
    with torch.no_grad():
        torch.testing.assert_close(new(*given), original(*given))
    assert "other arguments" in package.why_not(new)
    assert package.why_not(package.ModelNew(width=8, slope=0.1)) == ""


def test_two_threads_may_call_it(package: ModuleType, device: str) -> None:
    original, new = pair(package, device)
    new.norm.momentum = original.norm.momentum = 0.1
    given = inputs(device)
    with torch.no_grad():
        expected = original(*given)
    wrong: list[str] = []

    def work() -> None:
        with torch.no_grad():
            for _ in range(50):
                if not torch.allclose(new(*given), expected, atol=1e-5):
                    wrong.append("differs")

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_structures_of_arguments_and_results_stay(tmp_path: Path, device: str) -> None:
    package = export(tmp_path, STRUCTURES, f"structures_{device}", "--no-verify")
    new, original = package.ModelNew().to(device), package.model._original.Model().to(device)
    new.table = original.table = original.table.to(device)
    a, b = torch.rand(4, device=device), torch.rand(4, device=device)
    with torch.no_grad():
        result, expected = new([a, b], 3), original([a, b], 3)
        assert ran(package, new), package.why_not(new)
        torch.testing.assert_close(result, expected)
        assert isinstance(result["parts"][1], tuple)
        with pytest.warns(UserWarning, match="scale"):
            torch.testing.assert_close(new([a, b], 4), original([a, b], 4))


@pytest.fixture(scope="module")
def constants(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    return export(tmp_path_factory.mktemp("constants"), CONSTANTS, "constants", "--no-verify")


def test_constants_are_told_from_the_state_of_the_module(constants: ModuleType) -> None:
    (program,) = constants.model._package["programs"]
    marked = {leaf["name"] for leaf in program["weights"] if leaf.get("constant")}
    assert {leaf["name"] for leaf in program["weights"]} - marked == {"scale"}
    assert "shift" in marked and len(marked) == 2
    assert list(constants.ModelNew().state_dict()) == ["scale"]


@pytest.mark.filterwarnings("ignore:.*runs as the original does")
@pytest.mark.parametrize("made_there", [True, False])
def test_constants_are_where_the_module_is(constants: ModuleType, device: str, made_there: bool) -> None:
    with torch.device(device if made_there else "cpu"):
        new, original = constants.ModelNew().to(device), constants.model._original.Model().to(device)
    new.load_state_dict(original.state_dict())
    x = torch.rand(3, 4, device=device)
    with torch.no_grad():
        edits = [lambda: new.shift.add_(1.0), lambda: new.scale.mul_(0.5)]
        for change in (lambda: None, *edits, new.half, new.float, lambda: new.cpu().to(device)):
            change()
            original.shift, original.scale.data = new.shift, new.scale.data.clone()
            given = x.to(new.scale.dtype)
            torch.testing.assert_close(new(given), original(given))
            assert ran(constants, new) == (given.dtype == torch.float32), constants.why_not(new)


def test_what_is_collected_goes(package: ModuleType) -> None:
    import gc
    import weakref

    new = package.ModelNew(8)
    with torch.no_grad():
        new(*inputs("cpu"))
    gone = weakref.ref(new)
    del new
    gc.collect()
    assert gone() is None


def test_a_wrong_program_is_not_exported(tmp_path: Path) -> None:
    (tmp_path / "relu.py").write_text(RELU)
    (tmp_path / "wrong.cu").write_text(
        "//! kernel k replaces relu_1 : grid=64 block=256 args=(x, relu_1)\n"
        'extern "C" __global__ void k(const float* x, float* y) { y[blockIdx.x * 256 + threadIdx.x] = 1.0f; }\n'
    )
    done = subprocess.run(
        [CUDAL1, "export", "relu.py", "-o", "package", "--program", "wrong.cu"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 1 and "wrong_result" in done.stderr and done.stderr.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["relu.py", "wrong.cu"]


FAST_RELU = (
    "//! kernel k replaces relu_1 : grid=64 block=256 args=(x, relu_1)\n"
    'extern "C" __global__ void k(const float* x, float* y) {\n'
    "  const int i = blockIdx.x * 256 + threadIdx.x;\n"
    "  y[i] = fmaxf(x[i], 0.0f);\n"
    "}\n"
)


@pytest.fixture(scope="module")
def relu(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    folder = tmp_path_factory.mktemp("relu")
    (folder / "fast.cu").write_text(FAST_RELU)
    return export(folder, RELU, "relu", "--program", "fast.cu", "--no-verify", "--target", "sm_80", "sm_90")


def test_a_package_holds_program_cubins_and_headers(relu: ModuleType) -> None:
    folder = Path(relu.__file__).parent
    assert (folder / "program.cu").read_text() == FAST_RELU
    assert (folder / "cubins" / "sm_80.cubin").stat().st_size > 0 and (folder / "cubins" / "sm_90.cubin").exists()
    assert (folder / "original" / "relu.py").read_text() == RELU


@pytest.mark.filterwarnings("ignore")
def test_kernels_do_not_run_on_a_processor(relu: ModuleType) -> None:
    new, x = relu.ModelNew(), torch.randn(64, 256)
    with torch.no_grad():
        torch.testing.assert_close(new(x), torch.relu(x))
    assert "do not run on cpu" in relu.why_not(new)


# --- hooks ------------------------------------------------------------------------------------------------------------


def test_hooks_run_around_the_program(package: ModuleType, device: str) -> None:
    original, new = pair(package, device)
    seen: list[str] = []
    handles = [
        new.register_forward_pre_hook(lambda module, args: seen.append("before")),
        new.register_forward_hook(lambda module, args, result: result * 2),
        torch.nn.modules.module.register_module_forward_hook(lambda module, args, result: seen.append("any")),
    ]
    given = inputs(device)
    with torch.no_grad():
        result = new(*given)
        for handle in handles:
            handle.remove()
        torch.testing.assert_close(result, original(*given) * 2)
    assert seen == ["before", "any"] and ran(package, new)


def test_a_package_needs_torch_and_nothing_else_of_ours(package: ModuleType) -> None:
    folder = Path(package.__file__).parent
    for library in ("_cudal1_native.so", "cpp/libcudal1_model.so"):
        needed = subprocess.run(["readelf", "-d", folder / library], capture_output=True, text=True).stdout
        assert "NEEDED" in needed and not any(name in needed for name in ("libfmt", "libseccomp", "spdlog", "sqlite"))


TWO_SIDES = """
import torch

class Model(torch.nn.Module):
    def forward(self, x):
        left = torch.tanh(torch.softmax(x, 1) @ x.T)
        right = torch.relu(torch.cumsum(x, 0) @ x.T)
        return left + right, right

def get_inputs(): return [torch.rand(16, 8)]
"""


def test_branches_of_a_graph_run_step_by_step_on_the_host(tmp_path: Path) -> None:
    package = export_with(tmp_path, TWO_SIDES, "two_sides", "//! graph : branches=2\n", "--device", "vgpu")
    assert "waits_for" in (Path(str(package.__file__)).parent / "package.json").read_text()
    original, new = package.model._original.Model(), package.ModelNew()
    with torch.no_grad():
        for _ in range(3):
            x = torch.rand(16, 8)
            torch.testing.assert_close(new(x), original(x))
            assert package.why_not(new) == ""
