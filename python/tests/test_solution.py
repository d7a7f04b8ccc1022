"""What the process of a solution looks at, without a judge. The judge's side is tested in tests/dialect."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import torch

from cudal1_solution.arena import Arena
from cudal1_solution.failures import SolutionFailure, failure_of
from cudal1_solution.results import EarlierResults, ResultChecks, tensors_of
from cudal1_solution.solution import Solution, value_of

CPU = torch.device("cpu")
MATRIX = {"dtype": "f32", "sizes": [4, 4], "is_view": False}


@pytest.fixture
def arena():
    descriptor = os.memfd_create("arena")
    os.ftruncate(descriptor, 1 << 16)
    return Arena(descriptor, 1 << 16, CPU, None)


def check(result: torch.Tensor, arena: Arena, weights=None, earlier=()):
    ResultChecks([MATRIX], CPU).check(tensors_of({"tensor": 0}, result), weights or {}, list(earlier), arena)


def refusal(*arguments, **named) -> SolutionFailure:
    with pytest.raises(SolutionFailure) as caught:
        check(*arguments, **named)
    return caught.value


def test_tensors_on_the_arena_share_its_memory_and_nothing_else(arena):
    place = {"offset": 512, "bytes": 64, "dtype": "f32", "sizes": [4, 4], "strides": [1, 4]}
    tensor = arena.tensor(place)
    tensor.copy_(torch.arange(16.0).view(4, 4))
    assert torch.equal(arena.tensor(place), tensor)
    assert tensor.untyped_storage().nbytes() == 64
    assert not tensor._is_view()


def test_a_plain_result_passes_whatever_its_strides(arena):
    check(torch.randn(4, 4), arena)
    check(torch.randn(4, 4).t(), arena)


def test_results_that_are_computed_when_read_are_forbidden(arena):
    class Lazy(torch.Tensor):
        pass

    assert refusal(torch.randn(4, 4).as_subclass(Lazy), arena).status == "forbidden"
    assert refusal(torch.nn.Parameter(torch.randn(4, 4)), arena).status == "forbidden"
    assert refusal(torch._neg_view(torch.randn(4, 4)), arena).status == "forbidden"
    assert refusal(torch._efficientzerotensor((4, 4)), arena).status == "forbidden"
    assert refusal(torch.randn(4, 4).to_sparse(), arena).status == "forbidden"
    patched = torch.randn(4, 4)
    patched.copy_ = lambda other: other
    assert refusal(patched, arena).status == "forbidden"


def test_results_in_memory_of_others_are_forbidden(arena):
    inputs = arena.tensor({"offset": 0, "bytes": 64, "dtype": "f32", "sizes": [4, 4], "strides": [4, 1]})
    assert "input" in refusal(inputs, arena).message
    weight = torch.randn(8, 4)
    assert "'w'" in refusal(weight[:4], arena, weights={"w": weight}).message
    assert "earlier" in refusal(weight[:4], arena, earlier=[weight[3:]]).message
    check(weight[:4], arena, earlier=[weight[4:]])


def test_other_forms_are_wrong_results(arena):
    assert refusal(torch.randn(4, 5), arena).status == "wrong_result"
    assert refusal(torch.randn(4, 4).double(), arena).status == "wrong_result"
    for value in (None, 3.0, [torch.randn(4, 4)]):
        with pytest.raises(SolutionFailure) as caught:
            tensors_of({"tensor": 0}, value)
        assert caught.value.status == "wrong_result"


def test_several_results_come_in_the_order_of_the_task():
    one, two = torch.zeros(1), torch.ones(1)
    structure = {"dict": {"b": {"tensor": 1}, "a": {"tuple": [{"tensor": 0}, {"value": 3}]}}}
    assert [int(t) for t in tensors_of(structure, {"a": (one, 3), "b": two})] == [0, 1]


def write(folder: Path, text: str) -> Path:
    path = folder / "solution.py"
    path.write_text("import torch\nfrom torch import nn\n" + text)
    return path


def test_weights_are_found_by_name_then_by_order(tmp_path):
    named = "class ModelNew(nn.Module):\n    def __init__(self, n):\n        super().__init__()\n        self.{} = nn.Linear(n, 2)\n"
    wanted = [{"key": f"fc.{part}", "sizes": sizes, "required": True} for part, sizes in (("weight", [2, 3]), ("bias", [2]))]
    for name in ("fc", "other"):
        solution = Solution(write(tmp_path, named.format(name)), "ModelNew", {"list": [{"value": 3}]}, CPU)
        solution.bind(wanted)
        solution.write({"fc.weight": torch.full((2, 3), 7.0), "fc.bias": torch.full((2,), 8.0)})
        assert solution.model.get_parameter(f"{name}.weight").eq(7).all()
        assert solution.model.get_parameter(f"{name}.bias").eq(8).all()
    with pytest.raises(SolutionFailure) as caught:
        solution.bind([{"key": "fc.weight", "sizes": [5, 3], "required": True}])
    assert caught.value.status == "plan_error"


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("class ModelNew(nn.Module:", "parse_error"),
        ("x = 1", "parse_error"),
        ("import nobody_has_this", "unsupported"),
        ("raise RuntimeError('Error building extension: a.cu(3): error: no')", "compile_error"),
        ("raise torch.OutOfMemoryError('CUDA out of memory')", "out_of_memory"),
        ("raise ValueError('no')", "crashed"),
    ],
)
def test_what_keeps_a_solution_from_loading_has_a_status_and_a_line(tmp_path, text, status):
    with pytest.raises(SolutionFailure) as caught:
        Solution(write(tmp_path, text), "ModelNew", {"list": []}, CPU)
    assert caught.value.status == status
    assert text == "x = 1" or caught.value.line == 3


def test_faults_of_the_device_are_told_from_exceptions():
    for words, status in (
        ("CUDA error: an illegal memory access was encountered", "illegal_access"),
        ("CUDA error: invalid configuration argument", "launch_error"),
        ("something else", "crashed"),
    ):
        assert failure_of(RuntimeError(words), "forward", None).status == status


def test_constructor_arguments_keep_their_types():
    structure = {"dict": {"size": {"tuple": [{"value": 3}, {"value": 3}]}, "dtype": {"dtype": "float16"}}}
    assert value_of(structure, []) == {"size": (3, 3), "dtype": torch.float16}
    with pytest.raises(SolutionFailure):
        value_of({"other": "Module"}, [])


def test_a_call_must_not_change_what_the_call_before_it_gave() -> None:
    result, state = torch.tensor([1.0, float("nan"), 3.0]), torch.zeros(2)
    metas = [{"is_view": False}, {"is_view": False}]
    earlier = EarlierResults()
    earlier.check()
    earlier.keep([result, state], metas, [state])
    state.add_(1)
    earlier.check()
    result[0] = 0
    with pytest.raises(SolutionFailure, match="a call changes result 0 of the call before it"):
        earlier.check()
