"""`ModelNew`: the original's constructor, state and signature around a native call."""

from __future__ import annotations

import importlib.util
import inspect
import json
import sys
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

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

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        result = self._cudal1(*args, **kwargs)
        if result is NotImplemented:
            return _fall_back(self, args, kwargs)
        return result

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
        replica._cudal1 = lambda *args, **kwargs: NotImplemented  # its parameters are no parameters
        return replica


def why_not(module: ModelNew) -> str:
    """What the last call did not fit; empty if it ran the program."""
    return module._cudal1_refusal or getattr(module._cudal1, "reason", "")


def _bind(module: ModelNew) -> Any:
    if module._cudal1_refusal:
        return lambda *args, **kwargs: NotImplemented
    assert _native is not None
    constants = _constants()
    return _native.Call(
        str(_folder),
        [_holder_of(module, leaf["name"], constants) for leaf in _package["weights"]],
        [_holder_of(module, leaf["name"], constants) for leaf in _package["states"]],
        [(vars(part), key, value) for part, key, value in _expectations(module)],
        _flatten,
        _rebuild,
    )


def _fall_back(module: ModelNew, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    reason = why_not(module)
    if reason not in _warned:
        _warned.add(reason)
        warnings.warn(f"{_package['task']}: runs as the original does, since {reason}", stacklevel=3)
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
        path: {key: value for key, value in vars(part).items() if not key.startswith("_cudal1") and _is_plain(value)}
        for path, part in module.named_modules()
    }


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


def _constants() -> dict[str, torch.Tensor]:
    path = _folder / "constants.pt"
    return torch.load(path, weights_only=True) if path.exists() else {}


def _holder_of(module: torch.nn.Module, path: str, constants: dict[str, torch.Tensor]) -> tuple[dict[str, Any], str]:
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
    if kind in ("tuple", "list"):
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
    parts = [_rebuilt(part, tensors) for part in content]
    return tuple(parts) if kind == "tuple" else parts
