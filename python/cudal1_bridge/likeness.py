"""What a module is beside its weights, in a form that can be written down and compared: the types and attributes of its
parts, which parts and weights it has, and which of its weights are one.

A package compares the modules that its users make with the one that was exported, so this file goes into it.

A value is described by its `repr` where it is plain, and else by a list that begins with its kind; ["other", type] is
what nobody can compare.
"""

from __future__ import annotations

import ctypes
import enum
import functools
import hashlib
import json
import logging
import types
import weakref
from collections.abc import Iterator
from typing import Any

import torch

Description = str | list[Any]

_PLAIN = (bool, int, float, complex, str, bytes, type(None))
_TORCH_NAMES = (torch.dtype, torch.device, torch.layout, torch.memory_format)
_MOST_DEEP = 6  #: configurations of configurations; past this it is no configuration
_HEAP_TYPE = 1 << 9  #: of `type.__flags__`: a class that Python code defines

#: What torch keeps in every module; its contents are looked at one by one, or do not change results.
_own_of_torch = vars(torch.nn.Module()).keys() - {"training"} | {"_compiled_call_impl"}
#: How names begin that torch's tools leave on modules.
_of_tools = ("_torchdynamo", "_is_torch_compile", "_ddp_", "_fsdp", "_is_fsdp")
#: Follow the parameters, and are made anew wherever those are.
_own_of_recurrent = {"_flat_weights", "_flat_weight_refs"}


class Describer:
    """`user`: the module file, whose names must not depend on what the file is called here."""

    def __init__(self, user: types.ModuleType, module: torch.nn.Module | None = None) -> None:
        self._user = user.__name__
        self._module = module
        self._paths = {id(part): path for path, part in module.named_modules()} if module else {}
        self._weights = {id(tensor): path for path, tensor in weights_of(module)} if module else {}
        self._open: set[int] = set()
        #: What was looked into and can change: lists, dicts, sets and tensors, by their identity.
        self.looked_into: dict[int, Any] = {}

    def parts(self) -> Iterator[tuple[str, torch.nn.Module, dict[str, Any]]]:
        """Path, part and its traits. Nothing is said about the type of the whole, which stands in for another."""
        assert self._module is not None
        for path, part in self._module.named_modules():
            yield path, part, self._traits(part, is_whole=part is self._module)

    def _traits(self, part: torch.nn.Module, is_whole: bool) -> dict[str, Any]:
        return {
            "type": "" if is_whole else self._place(type(part)),
            "parts": [[name, self._paths.get(id(child))] for name, child in part._modules.items()],
            "tensors": {name: tensor is not None for name, tensor in [*part._parameters.items(), *part._buffers.items()]},
            "attributes": {
                name: self._attribute(value) for name, value in vars(part).items() if counts(part, name, is_whole)
            },
        }

    def _attribute(self, value: Any) -> Description:
        """Tensors of the program are read at every call."""
        return ["tensor"] if isinstance(value, torch.Tensor) else self.value(value)

    def value(self, value: Any) -> Description:
        if type(value) in _PLAIN:
            return repr(value)
        if isinstance(value, torch.nn.Module):
            return self._part(value)
        if id(value) in self._open:
            return ["again"]
        if len(self._open) >= _MOST_DEEP:
            return ["other", self._place(type(value))]
        self._open.add(id(value))
        try:
            return self._composed(value)
        finally:
            self._open.remove(id(value))

    def _composed(self, value: Any) -> Description:
        if isinstance(value, _TORCH_NAMES):
            return ["torch", str(value)]
        if isinstance(value, torch.Tensor):
            return self._tensor(value)
        if isinstance(value, enum.Enum):
            return ["enum", self._place(type(value)), value.name]
        if isinstance(value, (list, tuple)):  # both mean the same to a module
            kind = "list" if type(value) in (list, tuple, torch.Size) else self._place(type(value))
            return [kind, *(self.value(part) for part in self._into(value))]
        if isinstance(value, (set, frozenset)):
            return ["set", *sorted(json.dumps(self.value(part)) for part in self._into(value))]
        if isinstance(value, dict):
            return ["dict", *([self.value(key), self.value(part)] for key, part in self._into(value).items())]
        if isinstance(value, types.ModuleType):
            return ["module", value.__name__]
        if isinstance(value, logging.Logger):
            return ["logger", value.name]
        if isinstance(value, weakref.ref):
            return ["reference", self.value(value())]
        return self._callable(value) or self._object(value)

    def _into(self, container: Any) -> Any:
        if not isinstance(container, (tuple, frozenset)):
            self.looked_into[id(container)] = container
        return container

    def _part(self, module: torch.nn.Module) -> Description:
        """A part of the whole is described there; others hold weights that nobody would watch."""
        path = self._paths.get(id(module))
        return ["other", self._place(type(module))] if path is None else ["part", path]

    def _tensor(self, tensor: torch.Tensor) -> Description:
        if id(tensor) in self._weights:
            return ["weight", self._weights[id(tensor)]]
        if type(tensor) is not torch.Tensor or tensor.layout != torch.strided or tensor.is_meta:
            return ["other", self._place(type(tensor))]
        self._into(tensor)
        held = tensor.detach().cpu().contiguous()
        data = ctypes.string_at(held.data_ptr(), held.nbytes) if held.nbytes else b""
        return ["tensor", str(tensor.dtype), list(tensor.shape), hashlib.sha256(data).hexdigest()]

    def _callable(self, value: Any) -> Description | None:
        if isinstance(value, type):
            return ["type", self._place(value)]
        if isinstance(value, functools.partial):
            return ["partial", self.value(value.func), self.value(value.args), self.value(value.keywords)]
        if isinstance(value, types.MethodType):
            return ["method", self.value(value.__func__), self.value(value.__self__)]
        if isinstance(value, types.FunctionType):
            return self._function(value)
        if isinstance(value, types.BuiltinFunctionType):
            owner = value.__self__
            known = owner is None or isinstance(owner, (types.ModuleType, type)) or type(owner).__module__ == "torch._C"
            return ["builtin", self._place(value)] + ([] if known else [self.value(owner)])
        if isinstance(value, (types.MethodDescriptorType, types.WrapperDescriptorType)):
            return ["builtin", value.__objclass__.__name__, value.__name__]
        return None

    def _function(self, function: types.FunctionType) -> Description:
        """Two of one name may differ in what they close over, and lambdas have no name."""
        cells = [cell.cell_contents for cell in function.__closure__ or () if cell != types.CellType()]
        outside = [self.value(value) for value in (function.__defaults__, function.__kwdefaults__, *cells)]
        return ["function", self._place(function), _digest(function.__code__), *outside]

    def _object(self, value: Any) -> Description:
        kind = type(value)
        if kind.__module__ == "numpy" and hasattr(value, "tobytes"):
            return ["numpy", str(value.dtype), list(value.shape), hashlib.sha256(value.tobytes()).hexdigest()]
        is_python = all(base is object or base.__flags__ & _HEAP_TYPE for base in kind.__mro__)
        if not is_python or not hasattr(value, "__dict__") or any(vars(base).get("__slots__") for base in kind.__mro__):
            return ["other", self._place(kind)]
        entries = sorted(self._into(vars(value)).items())
        return ["object", self._place(kind), *([name, self.value(part)] for name, part in entries)]

    def _place(self, named: Any) -> str:
        module = getattr(named, "__module__", None) or ""
        return f"{'' if module == self._user else module}.{getattr(named, '__qualname__', '')}"


def counts(part: torch.nn.Module, attribute: str, is_whole: bool) -> bool:
    """Is it of the user's module, and not torch's own or a package's? A whole's own `forward` is called as it is."""
    if attribute in _own_of_torch or attribute.startswith(("_cudal1", *_of_tools)):
        return False
    if is_whole and attribute == "forward":
        return False
    return not (isinstance(part, torch.nn.RNNBase) and attribute in _own_of_recurrent)



def weights_of(module: torch.nn.Module) -> Iterator[tuple[str, torch.Tensor]]:
    """Under all their names."""
    yield from module.named_parameters(remove_duplicate=False)
    yield from module.named_buffers(remove_duplicate=False)


def tied_weights(module: torch.nn.Module) -> list[list[str]]:
    """Two names of one tensor, each."""
    first: dict[int, str] = {}
    return [[name, path] for path, tensor in weights_of(module) if (name := first.setdefault(id(tensor), path)) != path]


def describe_arguments(arguments: Any, user: types.ModuleType) -> dict[str, Any]:
    """Of a constructor: a list or a dictionary."""
    positional, named = ([], arguments) if isinstance(arguments, dict) else (arguments, {})
    return {
        "positional": [describe_argument(value, user) for value in positional],
        "named": {name: describe_argument(value, user) for name, value in named.items()},
    }


def describe_argument(value: Any, user: types.ModuleType) -> Description:
    """Without the contents of tensors and modules, which are found among the weights."""
    if isinstance(value, torch.Tensor):
        return ["tensor", str(value.dtype), list(value.shape)]
    if isinstance(value, torch.nn.Module):
        describer = Describer(user, value)
        return ["module", describer._place(type(value)), {path: traits for path, _, traits in describer.parts()}]
    return Describer(user).value(value)


def is_comparable(description: Any) -> bool:
    """Is there nothing in it of which only the type is known?"""
    if isinstance(description, list):
        return description[:1] != ["other"] and all(map(is_comparable, description))
    return all(map(is_comparable, description.values())) if isinstance(description, dict) else True


def _digest(code: types.CodeType) -> str:
    constants = [_digest(part) if isinstance(part, types.CodeType) else repr(part) for part in code.co_consts]
    return hashlib.sha256(repr((code.co_code, code.co_names, constants)).encode()).hexdigest()
