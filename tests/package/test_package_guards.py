"""Exported packages compute what the original would, whatever is done to the module between two calls.

Each test changes an original and its package in the same way: results must stay the same, and `why_not` must name what
no longer fits.
"""

from __future__ import annotations

import copy
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from exporting import CUDAL1, export, run_export
from torch import nn
from torch.autograd import forward_ad

pytestmark = pytest.mark.filterwarnings("ignore:.*runs as the original does")

NAMED = """
import torch

class Model(torch.nn.Module):
    def forward(self, x, a): return {"z": x - 2 * a, "b": [x + a]}

def get_inputs(): return {"x": torch.rand(4, 8), "a": torch.rand(4, 8)}
"""

DICTIONARY = """
import torch

class Model(torch.nn.Module):
    def forward(self, batch, k=2):
        first, second = batch.values()
        return first - k * second

def get_inputs(): return [{"q": torch.rand(4, 8), "b": torch.rand(4, 8)}]
"""

ATTRIBUTES = """
import enum, functools
import torch
from torch import nn

class Order(enum.Enum):
    first, second = 1, 2

class Config:
    def __init__(self, scale):
        self.scale, self.nested = scale, {"power": [1.0]}

def shifted(x, by): return x + by

class Model(nn.Module):
    factor = 1.0

    def __init__(self, width, act, dtype=torch.float32, scale=2.0, fn=torch.relu):
        super().__init__()
        self.first = nn.Linear(width, width, bias=False, dtype=dtype)
        self.act, self.scale, self.fn = act, scale, fn
        self.scales, self.shape, self.dims, self.kept = [1.0, 3.0], (1, [2]), {"a": 2}, {"x"}
        self.config, self.order = Config(2.0), Order.first
        self.shift = functools.partial(shifted, by=1.0)
        self.power = lambda x, held=self.config.nested: x * held["power"][0]
        self.tables = [torch.ones(width)]
        self.also = [self.first]

    def forward(self, x):
        y = self.fn(self.act(self.also[0](x))) * self.scales[1] + self.dims["a"] + len(self.kept) + self.shape[1][0]
        y = self.power(self.shift(y)) * self.config.scale * self.scale * self.factor + self.tables[0]
        return y if self.order is Order.first else -y

def get_inputs(): return [torch.rand(4, 8) - 0.5]
def get_init_inputs(): return [8, nn.Tanh()]
"""

PARTS = """
import torch
from torch import nn

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(8, 16, bias=False), nn.GELU(), nn.Linear(16, 8))
        self.twice = nn.ModuleList([self.net[1], self.net[1]])

    def forward(self, x, scale=2, mode="sum"):
        y = self.twice[1](self.twice[0](self.net(x))) * scale
        return y if mode == "sum" else -y

def get_inputs(): return [torch.rand(4, 8) - 0.5]
"""

TIED = """
import torch
from torch import nn

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.head = nn.Embedding(10, 8), nn.Linear(8, 10, bias=False)
        self.head.weight = self.embedding.weight

    def forward(self, x): return self.head(self.embedding(x))

def get_inputs(): return [torch.randint(0, 10, (4, 7))]
"""

DRAWN = """
import threading
import torch

class Model(torch.nn.Module):
    def __init__(self, locked=False):
        super().__init__()
        self.scale = torch.rand(1).item()
        self.lock = threading.Lock() if locked else None

    def forward(self, x): return x * self.scale

def get_inputs(): return [torch.rand(4, 8)]
def get_init_inputs(): return %s
"""

RECURRENT = """
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.cells = torch.nn.LSTM(8, 8)

    def forward(self, x): return self.cells(x)[0]

def get_inputs(): return [torch.rand(3, 2, 8)]
"""

Change = Callable[[Any], Any]


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], ModuleType]:
    made: dict[str, ModuleType] = {}

    def export_once(text: str, name: str) -> ModuleType:
        if name not in made:
            made[name] = export(tmp_path_factory.mktemp(name), text, f"guarded_{name}", "--no-verify")
        return made[name]

    return export_once


def pair(package: ModuleType, *arguments: Any, **named: Any) -> tuple[Any, Any]:
    original, new = package.model._original.Model(*arguments, **named), package.ModelNew(*arguments, **named)
    new.load_state_dict(original.state_dict())
    return original, new


def same(original: Any, new: Any, *arguments: Any, **named: Any) -> None:
    with torch.no_grad():
        torch.testing.assert_close(new(*arguments, **named), original(*arguments, **named))


# --- arguments and results --------------------------------------------------------------------------------------------


def test_arguments_go_by_their_names_and_results_keep_their_order(exported: Any) -> None:
    package = exported(NAMED, "named")
    original, new = pair(package)
    x, a = torch.rand(4, 8), torch.rand(4, 8)
    for given, named in [((), {"x": x, "a": a}), ((), {"a": a, "x": x}), ((x,), {"a": a}), ((x, a), {})]:
        same(original, new, *given, **named)
        assert package.why_not(new) == ""
        with torch.no_grad():
            assert list(new(*given, **named)) == ["z", "b"]
    with pytest.raises(TypeError):
        new(x, x=x)


def test_dictionaries_fit_in_their_own_order(exported: Any) -> None:
    package = exported(DICTIONARY, "dictionary")
    original, new = pair(package)
    q, b = torch.rand(4, 8), torch.rand(4, 8)
    same(original, new, {"q": q, "b": b})
    assert package.why_not(new) == ""
    same(original, new, {"b": b, "q": q})
    assert "batch" in package.why_not(new)


def test_a_default_may_be_given(exported: Any) -> None:
    package = exported(PARTS, "parts")
    original, new = pair(package)
    x = torch.rand(4, 8)
    for given, named in [((x, 2), {}), ((x,), {"mode": "sum"}), ((x, 2, "sum"), {}), ((), {"x": x, "scale": 2})]:
        same(original, new, *given, **named)
        assert package.why_not(new) == ""
    for given in ((x, 3), (x, 2.0), (x, 2, "difference"), (x, torch.tensor(2))):
        same(original, new, *given)
        assert "other arguments" in package.why_not(new)


def test_forward_derivatives_come_from_the_original(exported: Any) -> None:
    package = exported(PARTS, "parts")
    original, new = pair(package)
    x = torch.rand(4, 8)
    with torch.no_grad(), forward_ad.dual_level():
        dual = forward_ad.make_dual(x, torch.ones_like(x))
        wanted, got = (forward_ad.unpack_dual(module(dual)).tangent for module in (original, new))
    assert got is not None
    torch.testing.assert_close(got, wanted)
    assert "derivative" in package.why_not(new)
    same(original, new, x)
    assert package.why_not(new) == ""


# --- construction -----------------------------------------------------------------------------------------------------


def twice(x: torch.Tensor) -> torch.Tensor:
    return 2 * x


@pytest.mark.parametrize(
    ("arguments", "named", "reason"),
    [
        ([8, nn.Tanh(), torch.float32, 5.0], {}, "scale"),
        ([8, nn.Tanh()], {"scale": 5.0}, "scale"),
        ([8, nn.ReLU()], {}, "act"),
        ([8, nn.Sequential(nn.Tanh())], {}, "act"),
        ([8, nn.Tanh()], {"fn": torch.tanh}, "fn"),
        ([8, nn.Tanh()], {"fn": twice}, "fn"),
        ([8, nn.Tanh()], {"dtype": torch.float64}, "dtype"),
    ],
)
def test_other_arguments_are_noticed_one_by_one(exported: Any, arguments: Any, named: Any, reason: str) -> None:
    package = exported(ATTRIBUTES, "attributes")
    original, new = pair(package, *arguments, **named)
    same(original, new, torch.rand(4, 8, dtype=named.get("dtype")) - 0.5)
    assert f"other arguments ({reason})" in package.why_not(new)


def test_the_same_arguments_fit_though_they_are_other_objects(exported: Any) -> None:
    package = exported(ATTRIBUTES, "attributes")
    original, new = pair(package, 8, act=nn.Tanh(), dtype=torch.float32, scale=2.0, fn=torch.relu)
    same(original, new, torch.rand(4, 8) - 0.5)
    assert package.why_not(new) == ""


def test_what_a_constructor_draws_is_compared_with_the_export(exported: Any) -> None:
    package = exported(DRAWN % "[]", "drawn")
    new, x = package.ModelNew(), torch.rand(4, 8)
    with torch.no_grad():
        torch.testing.assert_close(new(x), x * new.scale)
        assert "scale" in package.why_not(new)
        new.scale = float(package.model._interface["parts"][""]["attributes"]["scale"])
        torch.testing.assert_close(new(x), x * new.scale)
    assert package.why_not(new) == ""


def test_what_cannot_be_compared_is_named(exported: Any) -> None:
    package = exported(DRAWN % "[True]", "locked")
    new, x = package.ModelNew(True), torch.rand(4, 8)
    new.scale = float(package.model._interface["parts"][""]["attributes"]["scale"])
    with torch.no_grad():
        torch.testing.assert_close(new(x), x * new.scale)
    assert "lock cannot be compared" in package.why_not(new)


# --- attributes -------------------------------------------------------------------------------------------------------


def set_item(name: str, key: Any, value: Any) -> Change:
    return lambda module: getattr(module, name).__setitem__(key, value)


@pytest.mark.parametrize(
    ("change", "undo", "reason"),
    [
        (set_item("scales", 1, 7.0), set_item("scales", 1, 3.0), "scales"),
        (lambda m: m.shape[1].__setitem__(0, 5), lambda m: m.shape[1].__setitem__(0, 2), "shape"),
        (set_item("dims", "a", 4), set_item("dims", "a", 2), "dims"),
        (lambda m: m.kept.add("y"), lambda m: m.kept.remove("y"), "kept"),
        (lambda m: setattr(m, "fn", torch.tanh), lambda m: setattr(m, "fn", torch.relu), "fn"),
        (lambda m: setattr(m.config, "scale", 4.0), lambda m: setattr(m.config, "scale", 2.0), "config"),
        (lambda m: m.config.nested["power"].__setitem__(0, 2.0), lambda m: m.config.nested["power"].__setitem__(0, 1.0), "config"),
        (lambda m: setattr(m, "order", type(m.order).second), lambda m: setattr(m, "order", type(m.order).first), "order"),
        (lambda m: m.tables[0].add_(1.0), lambda m: m.tables[0].sub_(1.0), "tables"),
        (lambda m: setattr(m, "factor", 3.0), lambda m: delattr(m, "factor"), "factor"),
        (lambda m: setattr(m, "power", lambda x: -x), None, "power"),
        (set_item("also", 0, nn.Linear(8, 8, bias=False)), None, "also"),
    ],
)
def test_edited_attributes_are_noticed(exported: Any, change: Change, undo: Change | None, reason: str) -> None:
    package = exported(ATTRIBUTES, "attributes")
    original, new = pair(package, 8, nn.Tanh())
    x = torch.rand(4, 8) - 0.5
    same(original, new, x)
    assert package.why_not(new) == ""
    for module in (original, new):
        change(module)
    same(original, new, x)
    assert reason in package.why_not(new)
    if undo:
        for module in (original, new):
            undo(module)
        same(original, new, x)
        assert package.why_not(new) == ""


def test_edits_by_code_that_python_has_specialised_are_noticed(exported: Any) -> None:
    package = exported(ATTRIBUTES, "attributes")
    original, new = pair(package, 8, nn.Tanh())
    x = torch.rand(4, 8) - 0.5

    def edit(config: Any, scale: float) -> None:
        config.scale = scale

    for number in range(100):
        scale = 2.0 if number % 2 else float(number + 3)
        edit(original.config, scale)
        edit(new.config, scale)
        same(original, new, x)
        assert (package.why_not(new) == "") == (scale == 2.0)


def test_equal_values_do_not_bind_it_anew(exported: Any) -> None:
    package = exported(ATTRIBUTES, "attributes")
    original, new = pair(package, 8, nn.Tanh())
    x = torch.rand(4, 8) - 0.5
    same(original, new, x)
    before = new._cudal1
    new.scale, new.scales[1], new.dims["a"] = float("2.0"), float("3.0"), int("2")
    new.train()
    same(original, new, x)
    assert new._cudal1 is before and package.why_not(new) == ""


def test_copies_fit(exported: Any) -> None:
    package = exported(ATTRIBUTES, "attributes")
    original, new = pair(package, 8, nn.Tanh())
    twin = copy.deepcopy(new)
    same(original, twin, torch.rand(4, 8) - 0.5)
    assert package.why_not(twin) == ""


def test_recurrent_modules_keep_their_own_lists(exported: Any) -> None:
    package = exported(RECURRENT, "recurrent")
    original, new = pair(package)
    x = torch.rand(3, 2, 8)
    for change in (lambda m: m, lambda m: m.float(), copy.deepcopy, lambda m: m.double().float()):
        new = change(new)
        same(original, new, x)
        assert package.why_not(new) == ""


# --- parts ------------------------------------------------------------------------------------------------------------


def replaced(index: int, part: nn.Module) -> Change:
    return lambda module: module.net.__setitem__(index, copy.deepcopy(part))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (replaced(0, nn.Linear(8, 16, bias=False)), ""),
        (replaced(2, nn.Linear(16, 8)), ""),
        (replaced(0, nn.Linear(8, 16)), "net.0"),
        (lambda m: setattr(m.net[0], "bias", nn.Parameter(torch.ones(16))), "net.0"),
        (replaced(1, nn.GELU()), "twice"),  # which has one part at three places no longer
        (lambda m: m.twice.__setitem__(1, nn.GELU()), "twice"),
        (lambda m: m.net.append(nn.ReLU()), "net"),
        (lambda m: setattr(m, "net", nn.Sequential(nn.Identity())), "net"),
        (lambda m: setattr(m.net[1], "approximate", "tanh"), "approximate"),
        (lambda m: setattr(m.net[1], "forward", torch.relu), "net.1.forward"),
    ],
)
def test_replaced_parts_are_noticed(exported: Any, change: Change, reason: str) -> None:
    package = exported(PARTS, "parts")
    original, new = pair(package)
    x = torch.rand(4, 8) - 0.5
    same(original, new, x)
    for module in (original, new):
        change(module)
    new.load_state_dict(original.state_dict())
    for _ in range(2):
        same(original, new, x)
        assert reason in package.why_not(new) if reason else package.why_not(new) == ""


def test_another_activation_in_place_of_one_is_noticed(exported: Any) -> None:
    package = exported(PARTS, "parts")
    original, new = pair(package)
    for module in (original, new):
        module.net[1] = module.twice[0] = module.twice[1] = nn.ReLU()
    same(original, new, torch.rand(4, 8) - 0.5)
    assert "net.1 is not a GELU" in package.why_not(new)


def test_weights_of_a_replaced_part_are_watched(exported: Any) -> None:
    package = exported(PARTS, "parts")
    original, new = pair(package)
    new.net[0] = nn.Linear(8, 16, bias=False)
    new.load_state_dict(original.state_dict())
    same(original, new, torch.rand(4, 8))
    with torch.no_grad():
        for module in (original, new):
            module.net[0].weight.mul_(2.0)
    same(original, new, torch.rand(4, 8))
    assert package.why_not(new) == ""


# --- forward ----------------------------------------------------------------------------------------------------------


def test_the_forward_of_a_subclass_is_called(exported: Any) -> None:
    package = exported(PARTS, "parts")

    class Mine(package.ModelNew):  # type: ignore[misc,name-defined]
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return super().forward(x) + 1.0

    original, x = package.model._original.Model(), torch.rand(4, 8)
    mine = Mine()
    mine.load_state_dict(original.state_dict())
    with torch.no_grad():
        torch.testing.assert_close(mine(x), original(x) + 1.0)
    assert package.why_not(mine) == ""


def test_a_forward_set_on_the_module_is_called(exported: Any) -> None:
    package = exported(PARTS, "parts")
    original, new = pair(package)
    x = torch.rand(4, 8)
    with torch.no_grad():
        new.forward = lambda x: original(x) + 2.0
        torch.testing.assert_close(new(x), original(x) + 2.0)
        assert "forward of its own" in package.why_not(new)
        new.forward = lambda x: type(new).forward(new, x) + 3.0
        torch.testing.assert_close(new(x), original(x) + 3.0)
        assert package.why_not(new) == ""
        del new.forward
    same(original, new, x)
    assert package.why_not(new) == ""


# --- tied weights -----------------------------------------------------------------------------------------------------


def assigned(module: Any) -> None:
    torch.manual_seed(3)
    module.load_state_dict({name: torch.rand(10, 8) for name in module.state_dict()}, assign=True)


def test_weights_that_are_no_longer_one_are_noticed(exported: Any) -> None:
    package = exported(TIED, "tied")
    x = torch.randint(0, 10, (4, 7))
    for name in ("head", "embedding"):
        original, new = pair(package)
        same(original, new, x)
        assert package.why_not(new) == ""
        for module in (original, new):
            torch.manual_seed(2)
            getattr(module, name).weight = nn.Parameter(torch.rand(10, 8))
        same(original, new, x)
        assert "no longer one" in package.why_not(new)
        for module in (original, new):
            module.head.weight = module.embedding.weight
        same(original, new, x)
        assert package.why_not(new) == ""
        for module in (original, new):
            assigned(module)
        same(original, new, x)
        assert "no longer one" in package.why_not(new)


def test_two_names_of_the_same_memory_are_one(exported: Any) -> None:
    package = exported(TIED, "tied")
    original, new = pair(package)
    x = torch.randint(0, 10, (4, 7))
    new.load_state_dict({name: value.clone() for name, value in original.state_dict().items()})
    state = new.state_dict()
    new.load_state_dict(state, assign=True)
    assert new.head.weight is not new.embedding.weight
    with torch.no_grad():
        for _ in range(2):
            same(original, new, x)
            new.head.weight.mul_(2.0)
            original.head.weight.mul_(2.0)
    same(original, new, x)


# --- the command ------------------------------------------------------------------------------------------------------


COUNTING = """
import torch

class Counter(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.calls, self.last = 0, None

    def forward(self, x):
        self.calls += 1
        self.last = x.shape[0]
        return x * self.calls

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.counter = Counter()

    def forward(self, x): return self.counter(x)

def get_inputs(): return [torch.rand(4, 8)]
"""


def test_modules_that_count_are_not_exported(tmp_path: Path) -> None:
    done = run_export(tmp_path, COUNTING, "counting", "--no-verify")
    assert done.returncode == 1 and "calls from one call to the next" in done.stderr
    done = run_export(tmp_path, COUNTING.replace("self.calls += 1", "pass"), "remembering", "--no-verify")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("folder", "line"), [("my pkg", 'import_module("my pkg")'), ("class", 'import_module("class")'), ("fine", "from fine import ModelNew")])
def test_says_how_it_is_imported(tmp_path: Path, folder: str, line: str) -> None:
    (tmp_path / "named.py").write_text(NAMED)
    done = subprocess.run([CUDAL1, "export", "named.py", "-o", folder, "--no-verify"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0 and line in done.stdout
    written = json.loads((tmp_path / folder / "package.json").read_text())
    assert list(written["interface"]["named"]) == ["x", "a"]
