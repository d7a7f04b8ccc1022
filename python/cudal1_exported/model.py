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

from .likeness import Describer, counts, describe_argument, is_comparable
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


class ModelNew(_original.Model):  # type: ignore[name-defined,misc]
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._cudal1_refusal = _no_native or _construction_misfit(args, kwargs)
        self._cudal1: Any = None  # there before it is bound, so that binding it adds no attribute
        self._cudal1 = _bind(self)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        result = self._cudal1(*args, **kwargs)
        # Where there are hooks or another `forward`, and where a call does not fit, it goes the usual way.
        return super().__call__(*args, **kwargs) if result is NotImplemented else result

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        result = self._cudal1.run(*args, **kwargs)
        if result is NotImplemented and self._cudal1.stale and _compared_anew(self):
            result = self._cudal1.run(*args, **kwargs)
        return _fall_back(self, args, kwargs) if result is NotImplemented else result

    def refresh(self) -> None:
        """Reads weights and attributes anew: after edits through `.data`, which nobody can notice."""
        self._cudal1 = _bind(self)

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key != "_cudal1"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._cudal1 = None
        self._cudal1 = _bind(self)

    def _replicate_for_data_parallel(self) -> Any:
        replica = super()._replicate_for_data_parallel()
        replica._cudal1 = _Never("it is a replica, whose parameters are no parameters")
        return replica


def why_not(module: ModelNew) -> str:
    """What the last call did not fit; empty if it ran the program."""
    if module._cudal1.stale:  # nobody has asked yet whether it matters
        _compared_anew(module)
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

    stale = False

    def __init__(self, reason: str) -> None:
        self.reason = reason

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return NotImplemented

    run = __call__


class _NotYet(_Never):
    """The module is not what was exported, but may become so."""

    stale = True


def _bind(module: ModelNew) -> Any:
    if module._cudal1_refusal:
        return _Never(module._cudal1_refusal)
    describer = Describer(_original, module)
    if reason := _misfit(module, describer):
        return _NotYet(reason)
    assert _native is not None
    forward_is_ours = type(module).forward is ModelNew.forward and "forward" not in vars(module)
    call = _native.Call(
        str(_folder),
        [_holders(module, program) for program in _package["programs"]],
        _watched(module, describer),
        _hooks(module),
        forward_is_ours,
        _flatten,
        _rebuild,
    )
    if not forward_is_ours:
        call.reason = "it has a forward of its own"  # until that one calls ours
    return call


def _compared_anew(module: ModelNew) -> bool:
    """After something has changed: does the module still fit? What does not may be undone, so the old call stays."""
    bound = _bind(module)
    if isinstance(bound, _Never):
        module._cudal1.reason = bound.reason
        return False
    module._cudal1 = bound
    return True


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


def _construction_misfit(args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """Arguments that nobody can compare are left to the attributes that were made of them."""
    exported = _interface["construction"]
    try:
        made = _arguments([_Described(part) for part in exported["positional"]], {
            name: _Described(part) for name, part in exported["named"].items()
        })
        given = _arguments(args, kwargs)
    except TypeError:
        return "it was constructed with other arguments"
    for name in made.keys() | given.keys():
        wanted, got = made.get(name), given.get(name)
        if wanted != got and is_comparable(wanted) and is_comparable(got):
            return f"it was constructed with other arguments ({name})"
    return ""


class _Described:
    """An argument of which the package has a description."""

    def __init__(self, description: Any) -> None:
        self.description = description


def _arguments(args: Any, kwargs: dict[str, Any]) -> dict[str, Any]:
    """Of the constructor: their descriptions by their names, defaults included. Raises TypeError."""
    signature = inspect.signature(_original.Model.__init__)
    bound = signature.bind(None, *args, **kwargs)
    bound.apply_defaults()
    flat: dict[str, Any] = {}
    for parameter in list(signature.parameters.values())[1:]:
        value = bound.arguments[parameter.name]
        if parameter.kind is parameter.VAR_POSITIONAL:
            flat |= {f"{parameter.name}[{i}]": part for i, part in enumerate(value)}
        else:
            flat |= value if parameter.kind is parameter.VAR_KEYWORD else {parameter.name: value}
    return {
        name: value.description if isinstance(value, _Described) else describe_argument(value, _original)
        for name, value in flat.items()
    }


def _misfit(module: ModelNew, describer: Describer) -> str:
    """How the module differs from the exported one, but for its weights; empty if it does not."""
    exported = _interface["parts"]
    count = 0
    for path, _, traits in describer.parts():
        if path not in exported:
            return f"it has another part, {path}"
        if reason := _difference(path, exported[path], traits):
            return reason
        count += 1
    if count != len(exported):
        return "one of its parts is gone"
    return next((f"{a} and {b} are no longer one" for a, b in _interface["ties"] if not _are_tied(module, a, b)), "")


def _difference(path: str, exported: dict[str, Any], now: dict[str, Any]) -> str:
    if exported["type"] != now["type"]:
        return f"its part {path} is not a {exported['type'].rpartition('.')[2]}"
    if exported["parts"] != now["parts"]:
        return f"the parts of {path or 'the module'} are not those that were exported"
    if exported["tensors"] != now["tensors"]:
        return f"the parameters and buffers of {path or 'the module'} are not those that were exported"
    wanted, got = exported["attributes"], now["attributes"]
    for name in [*wanted, *(got.keys() - wanted.keys())]:
        called = f"{path}.{name}" if path else name
        if name not in wanted or name not in got:
            return f"its attribute {called} is {'new' if name in got else 'gone'}"
        if wanted[name] != got[name]:
            exported_as = f" ({wanted[name]})" if isinstance(wanted[name], str) and len(wanted[name]) < 40 else ""
            return f"its attribute {called} is not what was exported{exported_as}"
        if not is_comparable(got[name]):
            return f"its attribute {called} cannot be compared with what was exported"
    return ""


def _are_tied(module: torch.nn.Module, *names: str) -> bool:
    """One tensor, or two on the same memory of which each counts the writes to the other."""
    a, b = (holder[key] for holder, key in (_holder_of(module, name, {}) for name in names))
    if a is b:
        return True
    if not (_is_plain(a) and _is_plain(b)):
        return False
    return (a.data_ptr(), a.shape, a.stride(), a.dtype) == (b.data_ptr(), b.shape, b.stride(), b.dtype) and (
        a.is_inference() == b.is_inference() and (a.is_inference() or a._version == b._version)
    )


def _is_plain(tensor: torch.Tensor) -> bool:
    """Has it memory of its own? Those of a transform have not."""
    is_wrapped = torch._C._functorch.is_functorch_wrapped_tensor(tensor)
    return type(tensor) in (torch.Tensor, torch.nn.Parameter) and not is_wrapped


_ANY_TENSOR = object()
_MOST_ITEMS = 1000  #: of a list or a set; going through more of them at every call would cost more than a call


def _watched(module: ModelNew, describer: Describer) -> dict[str, Any]:
    """What is compared at every call, by identity (module_watch.hpp): all that `_misfit` has looked at."""
    dictionaries: dict[int, tuple[dict[Any, Any], dict[Any, Any]]] = {}

    def watch(dictionary: dict[Any, Any], keys: Any) -> None:
        expected = {
            key: _ANY_TENSOR if isinstance(dictionary[key], torch.Tensor) else dictionary[key] for key in keys
        }
        dictionaries[id(dictionary)] = (dictionary, expected)

    for part in module.modules():
        own = [name for name in vars(part) if counts(part, name, part is module)]
        watch(vars(part), [*own, "_modules", "_parameters", "_buffers"])
        for holder in (part._modules, part._parameters, part._buffers):
            watch(holder, holder)
    looked_into = describer.looked_into.values()
    for container in looked_into:
        if isinstance(container, dict):
            dictionaries[id(container)] = (container, dict(container))
    short = [one for one in looked_into if isinstance(one, (list, set)) and len(one) <= _MOST_ITEMS]
    return {
        "any_tensor": _ANY_TENSOR,
        "dictionaries": list(dictionaries.values()),
        "lists": [container for container in short if isinstance(container, list)],
        "sets": [container for container in short if isinstance(container, set)],
        "tensors": [container for container in looked_into if isinstance(container, torch.Tensor)],
        "ties": [
            (*_holder_of(module, one, {}), *_holder_of(module, other, {})) for one, other in _interface["ties"]
        ],
    }


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

_parameters = list(inspect.signature(_original.Model.forward).parameters.values())[1:]
_by_position = [one.name for one in _parameters if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
_defaults = {one.name: one.default for one in _parameters if one.default is not one.empty}


def _by_name(args: Any, kwargs: dict[str, Any]) -> dict[str, Any]:
    """Arguments of `forward`; those past its parameters by their number."""
    names = _by_position + [f"*{i}" for i in range(len(_by_position), len(args))]
    return dict(zip(names, args)) | kwargs


_wanted = _by_name(_interface["positional"], _interface["named"])


def _flatten(args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[torch.Tensor] | str:
    """The tensors among the arguments, in the program's order; a string says what does not fit."""
    given = _by_name(args, kwargs)
    if len(given) != len(args) + len(kwargs):
        return "it got an argument twice"
    tensors: dict[int, torch.Tensor] = {}
    for name, structure in _wanted.items():
        if name not in given and name not in _defaults:
            return f"its argument {name} is missing"
        if not _collect(given.get(name, _defaults.get(name)), structure, tensors):
            return f"its argument {name} is another one"
    for name in given.keys() - _wanted.keys():
        if name not in _defaults or not _is_default(given[name], _defaults[name]):
            return f"it got other arguments ({name})"
    return [tensors[index] for index in range(len(tensors))]


def _is_default(value: Any, default: Any) -> bool:
    """Only what surely means the same."""
    if value is default:
        return True
    described = [describe_argument(one, _original) for one in (value, default)]
    is_tensor = isinstance(value, (torch.Tensor, torch.nn.Module))
    return not is_tensor and described[0] == described[1] and is_comparable(described)


def _collect(value: Any, structure: dict[str, Any], tensors: dict[int, torch.Tensor]) -> bool:
    ((kind, content),) = structure.items()
    if kind == "tensor":
        tensors[content] = value
        return isinstance(value, torch.Tensor)
    if kind == "value":
        return type(value) is type(content) and value == content
    if kind == "dtype":
        return isinstance(value, torch.dtype) and str(value) == f"torch.{content}"
    if kind == "dict":  # a module may go through one in its order
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
