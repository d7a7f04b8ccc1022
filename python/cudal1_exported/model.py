"""`ModelNew`: the original's constructor, state and signature around a native call."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import json
import sys
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch.nn.modules import module as _torch_module

from .safetensors_file import load_tensors, save_tensors

_folder = Path(__file__).resolve().parent
_package = json.loads((_folder / "package.json").read_text(encoding="utf-8"))
_interface = _package["interface"]


def _load_original() -> ModuleType:
    path = _folder / "original" / _package["original"]
    sys.path.insert(0, str(path.parent))  # it may import its neighbours
    try:
        spec = importlib.util.spec_from_file_location(f"{__name__}_original", path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        return module
    finally:
        sys.path.remove(str(path.parent))


def _load_native() -> tuple[ModuleType | None, str]:
    built_for = _package["built_for"]
    here = {"torch": torch.__version__, "python": "%d.%d" % sys.version_info[:2]}
    if here != built_for:
        return None, f"the package was built for {built_for}, this is {here}: export it again"
    spec = importlib.util.spec_from_file_location("_cudal1_native", _folder / "_cudal1_native.so")
    assert spec is not None and spec.loader is not None
    try:
        native = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(native)
    except ImportError as problem:
        return None, f"its native part cannot be loaded: {problem}"
    return native, ""


_original = _load_original()
_native, _no_native = _load_native()
_warned: set[str] = set()
_PLAIN = (bool, int, float, str, type(None))


class ModelNew(_original.Model):  # type: ignore[name-defined,misc]
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        reason = _no_native or ("" if _same_construction(args, kwargs) else "it was constructed with other arguments")
        # What the graph took from the module for granted: compared at every call.
        self._cudal1_expected = _plain_attributes(self)
        self._cudal1_refusal = reason
        self._cudal1 = _bind(self)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        result = self._cudal1(*args, **kwargs)
        # Where there are hooks, and where a call does not fit, it goes the usual way.
        return super().__call__(*args, **kwargs) if result is NotImplemented else result

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        result = self._cudal1.run(*args, **kwargs)
        return _fall_back(self, args, kwargs) if result is NotImplemented else result

    def refresh(self) -> None:
        """Reads weights and attributes anew: after edits through `.data`, which nobody can notice."""
        self._cudal1 = _bind(self)

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key != "_cudal1"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._cudal1 = _bind(self)

    def _replicate_for_data_parallel(self) -> Any:
        replica = super()._replicate_for_data_parallel()
        replica._cudal1 = _Never("it is a replica, whose parameters are no parameters")
        return replica


def why_not(module: ModelNew) -> str:
    """What the last call did not fit; empty if it ran the program."""
    return str(module._cudal1.reason)


def save_weights(module: ModelNew, path: str | Path) -> None:
    """Writes what the program reads as safetensors: the weights file of cpp/cudal1_model.hpp."""
    tensors = dict(module.state_dict(keep_vars=True))
    for program in _package["programs"]:
        constants = _constants(program)
        for leaf in program["weights"] + program["states"]:
            holder, key = _holder_of(module, leaf["name"], constants)
            if holder is not constants:
                tensors[leaf["name"]] = holder[key]
    save_tensors(tensors, Path(path))


class _Never:
    """In place of a native call: nothing fits."""

    def __init__(self, reason: str) -> None:
        self.reason = reason

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return NotImplemented

    run = __call__


def _bind(module: ModelNew) -> Any:
    if module._cudal1_refusal:
        return _Never(module._cudal1_refusal)
    assert _native is not None
    return _native.Call(
        str(_folder),
        [_holders(module, program) for program in _package["programs"]],
        [(vars(part), key, value) for part, key, value in _expectations(module)],
        _hooks(module),
        _flatten,
        _rebuild,
    )


_Holder = tuple[dict[str, Any], str]


def _holders(module: ModelNew, program: dict[str, Any]) -> tuple[list[_Holder], list[_Holder]]:
    constants = _constants(program)
    weights, states = (
        [_holder_of(module, leaf["name"], constants) for leaf in program[kind]] for kind in ("weights", "states")
    )
    return weights, states


def _hooks(module: torch.nn.Module) -> list[dict[int, Any]]:
    """The dictionaries at which torch.nn.Module looks before it calls `forward`."""
    names = [f"{prefix}_{kind}" for prefix in ("_forward", "_backward") for kind in ("hooks", "pre_hooks")]
    return [getattr(module, name) for name in names] + [getattr(_torch_module, f"_global{name}") for name in names]


def _fall_back(module: ModelNew, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    reason = why_not(module)
    if reason not in _warned:
        _warned.add(reason)
        warnings.warn(f"{_package['task']}: runs as the original does, since {reason}", stacklevel=6)  # the line that calls the module
    return super(ModelNew, module).forward(*args, **kwargs)


# --- what the program was made for ----------------------------------------------------------------------------------


def _same_construction(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    exported = _interface["init"]
    if exported is None:  # cannot be compared: attributes and weights still are
        return True
    signature = inspect.signature(_original.Model.__init__)
    try:
        made = signature.bind(None, *_positional(exported), **_named(exported))
        given = signature.bind(None, *args, **kwargs)
    except TypeError:
        return False
    made.apply_defaults()
    given.apply_defaults()
    return _comparable(dict(made.arguments)) == _comparable(dict(given.arguments))


def _positional(init: dict[str, Any]) -> list[Any]:
    return [_plain(part) for part in init.get("list", [])]


def _named(init: dict[str, Any]) -> dict[str, Any]:
    return {key: _plain(part) for key, part in init.get("dict", {}).items()}


def _plain(init: dict[str, Any]) -> Any:
    ((kind, content),) = init.items()
    if kind == "list":
        return [_plain(part) for part in content]
    return {key: _plain(part) for key, part in content.items()} if kind == "dict" else content


def _comparable(value: Any) -> Any:
    """Lists and tuples mean the same to a constructor."""
    if isinstance(value, (list, tuple)):
        return [_comparable(part) for part in value]
    return {key: _comparable(part) for key, part in value.items()} if isinstance(value, dict) else value


def _plain_attributes(module: torch.nn.Module) -> dict[str, dict[str, Any]]:
    """Numbers, strings and tuples of them, `training` among them, by the path of their module."""
    return {
        path: {key: value for key, value in vars(part).items() if _counts(key) and _is_plain(value)}
        for path, part in module.named_modules()
    }


_own_of_torch = vars(torch.nn.Module()).keys() - {"training"}


def _counts(attribute: str) -> bool:
    """Is it of the user's module, and not ours or torch's own?"""
    return not attribute.startswith("_cudal1") and attribute not in _own_of_torch


def _is_plain(value: Any) -> bool:
    if type(value) in (tuple, torch.Size):
        return all(type(part) in _PLAIN for part in value)
    return type(value) in _PLAIN


def _expectations(module: ModelNew) -> list[tuple[torch.nn.Module, str, Any]]:
    parts = dict(module.named_modules())
    return [
        (parts[path], key, value)
        for path, attributes in module._cudal1_expected.items()
        if path in parts
        for key, value in attributes.items()
    ]


def _constants(program: dict[str, Any]) -> dict[str, torch.Tensor]:
    path = _folder / program["folder"] / "constants.safetensors"
    return load_tensors(path) if path.exists() else {}


def _holder_of(module: torch.nn.Module, path: str, constants: dict[str, torch.Tensor]) -> _Holder:
    """The dictionary and the key under which a weight is found at every call."""
    *owners, key = path.split(".")
    try:
        owner = module.get_submodule(".".join(owners))
    except AttributeError:
        return constants, path
    for holder in (owner._parameters, owner._buffers, vars(owner)):
        if key in holder:
            return holder, key
    return constants, path


# --- arguments and results that are more than tensors ---------------------------------------------------------------

_parameters = list(inspect.signature(_original.Model.forward).parameters)[1:]


def _flatten(args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[torch.Tensor] | str:
    """The tensors among the arguments, in the program's order; a string says what does not fit."""
    expected = list(_interface["positional"])
    named = dict(_interface["named"])
    given = dict(zip(_parameters, args)) | kwargs
    wanted = dict(zip(_parameters, expected)) | named
    if len(args) > len(_parameters) or len(expected) > len(_parameters):
        given, wanted = {str(i): arg for i, arg in enumerate(args)} | kwargs, {str(i): e for i, e in enumerate(expected)} | named
    if set(given) != set(wanted):
        return "it got other arguments"
    tensors: list[torch.Tensor] = []
    for name, structure in wanted.items():
        if not _collect(given[name], structure, tensors):
            return f"its argument {name} is another one"
    return tensors


def _collect(value: Any, structure: dict[str, Any], tensors: list[torch.Tensor]) -> bool:
    ((kind, content),) = structure.items()
    if kind == "tensor":
        tensors.append(value)
        return isinstance(value, torch.Tensor)
    if kind == "value":
        return type(value) is type(content) and value == content
    if kind == "dict":
        return isinstance(value, dict) and list(value) == list(content) and all(
            _collect(value[key], part, tensors) for key, part in content.items()
        )
    if kind == "named":
        content = content["parts"]
    if kind in ("tuple", "list", "named"):
        return isinstance(value, (tuple, list)) and len(value) == len(content) and all(
            _collect(part, wanted, tensors) for part, wanted in zip(value, content)
        )
    return False


def _rebuild(tensors: tuple[torch.Tensor, ...]) -> Any:
    return _rebuilt(_interface["outputs"], tensors)


def _rebuilt(structure: dict[str, Any], tensors: tuple[torch.Tensor, ...]) -> Any:
    ((kind, content),) = structure.items()
    if kind == "tensor":
        return tensors[content]
    if kind == "dict":
        return {key: _rebuilt(part, tensors) for key, part in content.items()}
    if kind == "value":
        return content
    if kind == "named":
        made = [_rebuilt(part, tensors) for part in content["parts"]]
        return _named_tuple(content)(*made) if not content["module"] else _named_tuple(content)(made)
    parts = [_rebuilt(part, tensors) for part in content]
    return tuple(parts) if kind == "tuple" else parts


def _named_tuple(content: dict[str, Any]) -> Any:
    home = importlib.import_module(content["module"]) if content["module"] else _original
    return getattr(home, content["type"])
