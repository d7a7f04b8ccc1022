"""A solution's text as a model: imported, constructed, and given its weights by somebody else."""

from __future__ import annotations

import importlib.util
import operator
import sys
from pathlib import Path
from typing import Any

import torch

from .arena import DTYPES
from .failures import SolutionFailure, failure_of

_copy = torch.Tensor.copy_


class Solution:
    """`construct`: the constructor's arguments as a structure of interface.json."""

    def __init__(self, path: Path, class_name: str, construct: dict[str, Any], device: torch.device) -> None:
        self._path = path
        model_class = getattr(self._import(), class_name, None)
        if not isinstance(model_class, type):
            raise SolutionFailure("parse_error", f"defines no class {class_name}")
        self.model = self._guarded("the constructor", lambda: self._construct(model_class, value_of(construct, []), device))
        self._named = dict(self.model.named_parameters(remove_duplicate=False)) | dict(self.model.named_buffers(remove_duplicate=False))
        self.weights: dict[str, torch.Tensor] = {}

    def _import(self) -> Any:
        name = "cudal1_solution_text"
        spec = importlib.util.spec_from_file_location(name, self._path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        self._guarded("the module", lambda: spec.loader.exec_module(module))
        return module

    @staticmethod
    def _construct(model_class: type, arguments: Any, device: torch.device) -> torch.nn.Module:
        model = model_class(**arguments) if isinstance(arguments, dict) else model_class(*arguments)
        if not isinstance(model, torch.nn.Module):
            raise SolutionFailure("parse_error", f"{model_class.__name__} is no torch.nn.Module")
        model = model.to(device)
        for module in model.modules():  # what a model holds as plain attributes does not move with it
            for name, value in list(vars(module).items()):
                if type(value) is torch.Tensor and value.device != device:
                    setattr(module, name, value.to(device))
        return model

    def bind(self, wanted: list[dict[str, Any]]) -> None:
        """Finds the tensors that the judge will write to: by name, else all parameters by their order."""
        found = {leaf["key"]: self._find(leaf) for leaf in wanted}
        missing = [leaf["key"] for leaf in wanted if found[leaf["key"]] is None and leaf["required"]]
        if missing:
            found = self._by_order(wanted) or found
        missing = [leaf["key"] for leaf in wanted if found.get(leaf["key"]) is None and leaf["required"]]
        if missing:
            raise SolutionFailure(
                "plan_error",
                f"has no parameter or buffer '{missing[0]}' of the reference's shape, so it cannot be given other weights",
            )
        self.weights = {key: tensor for key, tensor in found.items() if tensor is not None}

    def _find(self, leaf: dict[str, Any]) -> torch.Tensor | None:
        held = self._named.get(leaf["key"])
        if held is None:
            try:
                held = operator.attrgetter(leaf["key"])(self.model)
            except AttributeError:
                return None
        return held if isinstance(held, torch.Tensor) and list(held.shape) == leaf["sizes"] else None

    def _by_order(self, wanted: list[dict[str, Any]]) -> dict[str, torch.Tensor | None] | None:
        required = [leaf for leaf in wanted if leaf["required"]]
        held = [tensor for tensor in self._named.values()]
        if [leaf["sizes"] for leaf in required] != [list(tensor.shape) for tensor in held]:
            return None
        return {leaf["key"]: tensor for leaf, tensor in zip(required, held)}

    def write(self, tensors: dict[str, torch.Tensor]) -> None:
        with torch.no_grad():
            for key, tensor in tensors.items():
                if key in self.weights:
                    _copy(self.weights[key], tensor)

    def _guarded(self, doing: str, action: Any) -> Any:
        try:
            return action()
        except Exception as problem:
            raise failure_of(problem, doing, self._path) from problem


def value_of(structure: dict[str, Any], tensors: list[torch.Tensor]) -> Any:
    if "tensor" in structure:
        return tensors[structure["tensor"]]
    if "tuple" in structure:
        return tuple(value_of(part, tensors) for part in structure["tuple"])
    if "list" in structure:
        return [value_of(part, tensors) for part in structure["list"]]
    if "dict" in structure:
        return {key: value_of(part, tensors) for key, part in structure["dict"].items()}
    if "dtype" in structure:
        return getattr(torch, structure["dtype"])
    if "value" in structure:
        return structure["value"]
    raise SolutionFailure("unsupported", f"the module takes a {structure.get('other', 'value')} that cannot be handed to a solution")
