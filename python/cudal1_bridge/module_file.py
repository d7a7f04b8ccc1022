"""Module files in KernelBench's form: a class `Model`, `get_inputs()` and perhaps `get_init_inputs()`."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import inspect
import itertools
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import torch

from .errors import BridgeError, first_line

_T = TypeVar("_T")
_numbers = itertools.count()


@dataclass(frozen=True)
class ModuleFile:
    """An imported module file. Everything it draws, it draws under a seed of ours."""

    path: Path
    source: str
    module: ModuleType

    @property
    def name(self) -> str:
        return self.path.stem

    def make_model(self, seed: int, device: str) -> torch.nn.Module:
        """The model in the mode its constructor leaves it in, which is training unless it says otherwise."""

        def construct() -> torch.nn.Module:
            arguments = self.init_arguments()
            if isinstance(arguments, Mapping):
                return self.module.Model(**arguments)
            return self.module.Model(*arguments)

        model = self._seeded("Model", seed, device, construct)
        if not isinstance(model, torch.nn.Module):
            raise BridgeError(f"{self.path}: Model is not a torch.nn.Module")
        return model

    def make_inputs(self, seed: int, device: str) -> tuple[list[Any], dict[str, Any]]:
        """Arguments of `forward`, by position and by name."""
        inputs = self._seeded("get_inputs", seed, device, self.module.get_inputs)
        if isinstance(inputs, Mapping):
            return [], dict(inputs)
        if not isinstance(inputs, (list, tuple)):
            raise BridgeError(f"{self.path}: get_inputs() returns {type(inputs).__name__}, not a list of inputs")
        return list(inputs), {}

    def place_of_forward(self) -> str:
        """For what is wrong with a call as a whole."""
        return self.place_of_function(self.module.Model.forward)

    def place_of_function(self, function: Any) -> str:
        """Where the user's file defines a function or a class; the file where it is defined elsewhere."""
        try:
            found = inspect.getsourcefile(function), inspect.getsourcelines(function)[1]
        except (TypeError, OSError):
            return str(self.path)
        return f"{self.path}:{found[1]}" if found[0] == str(self.path) else str(self.path)

    def imported_neighbours(self) -> list[Path]:
        """Files from the module's folder that were imported with it: the task depends on them as well."""
        files = {getattr(module, "__file__", None) for module in list(sys.modules.values())}
        # Some modules of torch have a name that is no path; it must not be taken for a file of this folder.
        paths = {Path(file).resolve() for file in files if file and Path(file).is_absolute()}
        return sorted(path for path in paths if path.is_relative_to(self.path.parent) and self._is_own(path))

    def _is_own(self, path: Path) -> bool:
        bridge = Path(__file__).resolve().parent
        return path != self.path and path.suffix == ".py" and bridge not in path.parents and "site-packages" not in path.parts

    def init_arguments(self) -> Any:
        get = getattr(self.module, "get_init_inputs", None)
        arguments = get() if get else []
        if not isinstance(arguments, (list, tuple, Mapping)):
            place = self.place_of_function(get)
            raise BridgeError(f"{place}: get_init_inputs() returns {type(arguments).__name__}, not a list of arguments")
        return arguments

    def _seeded(self, what: str, seed: int, device: str, make: Callable[[], _T]) -> _T:
        torch.manual_seed(seed)
        try:
            with torch.device(device):
                return make()
        except BridgeError as problem:
            if str(self.path) in str(problem):
                raise
            raise type(problem)(f"{place_of(problem, self.path)}: {problem}") from problem
        except (Exception, SystemExit) as problem:
            raise BridgeError(
                f"{place_of(problem, self.path)}: {what} raises {type(problem).__name__}: {first_line(problem)}"
            ) from problem


def place_of(problem: BaseException, path: Path) -> str:
    """The innermost line of the user's own file that took part."""
    lines = [frame.lineno for frame in traceback.extract_tb(problem.__traceback__) if frame.filename == str(path)]
    return f"{path}:{lines[-1]}" if lines else str(path)


def in_order(model: torch.nn.Module, named: dict[str, Any]) -> dict[str, Any]:
    """Keyword arguments as `forward` lists them, which is how the exporter does."""
    order = list(inspect.signature(model.forward).parameters)
    return dict(sorted(named.items(), key=lambda item: order.index(item[0]) if item[0] in order else len(order)))


def load_module_file(path: Path) -> ModuleFile:
    path = path.resolve()
    try:
        source = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        raise BridgeError(f"{path}: {first_line(problem)}") from problem
    sys.path.insert(0, str(path.parent))  # as `python FILE` does: a module may import its neighbours
    module = _import_file(path)
    for name in ("Model", "get_inputs"):
        if not callable(getattr(module, name, None)):
            raise BridgeError(f"{path}: defines no {name}: a module file has Model, get_inputs and get_init_inputs")
    return ModuleFile(path, source, module)


def _import_file(path: Path) -> ModuleType:
    # A name of its own for every file: two files called the same must not share classes, and inspect finds the source.
    name = f"cudal1_user_module_{next(_numbers)}"
    spec = importlib.util.spec_from_loader(name, importlib.machinery.SourceFileLoader(name, str(path)))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except SyntaxError as problem:
        raise BridgeError(f"{path}:{problem.lineno}: {problem.msg}") from problem
    except ModuleNotFoundError as problem:
        raise BridgeError(f"{place_of(problem, path)}: needs the package '{problem.name}', which is not here") from problem
    except (Exception, SystemExit) as problem:
        raise BridgeError(
            f"{place_of(problem, path)}: {type(problem).__name__}: {first_line(problem)}"
        ) from problem
    return module
