"""A module file as a task: what is computed, from which leaves, and how those are made."""

from __future__ import annotations

import contextlib
import inspect
import io
import logging
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from .errors import BridgeError, first_line
from .graph import Leaf, Node
from .input_recipe import InputRecipe, Recorder
from .lowering import LoweredGraph, lower
from .module_file import ModuleFile, place_of


@dataclass
class ExportedTask:
    name: str
    source: str
    inputs: list[Leaf]
    weights: list[Leaf]
    state: list[Leaf]
    nodes: list[Node]
    outputs: list[str]
    input_graph: dict[str, Any] | None  #: how those inputs are made that are not only drawn
    tensors: dict[str, torch.Tensor]  #: contents of weights and state
    fresh_tensors: dict[str, torch.Tensor]  #: the same of a model that was constructed under another seed

    def to_json(self) -> dict[str, Any]:
        made: dict[str, Any] = {"format": "cudal1.graph", "version": 1, "name": self.name}
        if self.tensors:
            made["weights_file"] = "weights.safetensors"
            made["fresh_weights_file"] = "fresh_weights.safetensors"
        if self.input_graph:
            made["input_graph"] = self.input_graph
        for key in ("inputs", "weights", "state", "nodes"):
            if getattr(self, key):
                made[key] = [part.to_json() for part in getattr(self, key)]
        return made | {"outputs": self.outputs}


def export_task(file: ModuleFile, name: str, seed: int) -> ExportedTask:
    """Raises BridgeError: one line with the place."""
    program, recorder, given = _export(file, seed)
    lowered = lower(program)
    inputs, input_graph = _inputs(lowered, recorder, given)
    leaves = {path: Leaf.like(lowered.names[path], node.meta["val"], {"key": path})
              for path, node in (lowered.parameters | lowered.constants).items()}
    return ExportedTask(
        name=name,
        source=file.source,
        inputs=inputs,
        weights=[leaf for path, leaf in leaves.items() if path not in lowered.written],
        state=[leaf for path, leaf in leaves.items() if path in lowered.written],
        nodes=lowered.nodes,
        outputs=lowered.outputs,
        input_graph=input_graph,
        tensors=_contents(file, program, lowered, seed),
        fresh_tensors=_contents(file, program, lowered, seed + 1),
    )


def _export(file: ModuleFile, seed: int) -> tuple[torch.export.ExportedProgram, Recorder, list[torch.Tensor]]:
    """Without memory and computation where that is possible: some modules look at their numbers."""
    try:
        exported = _export_on(file, seed, "meta")
    except BridgeError:
        return _export_on(file, seed, "cpu")
    has_constants = any(spec.kind.name == "CONSTANT_TENSOR" for spec in exported[0].graph_signature.input_specs)
    return _export_on(file, seed, "cpu") if has_constants else exported


def _export_on(
    file: ModuleFile, seed: int, device: str
) -> tuple[torch.export.ExportedProgram, Recorder, list[torch.Tensor]]:
    model = file.make_model(seed, device)
    with Recorder() as recorder:
        positional, named = file.make_inputs(seed, device)
    try:
        with _quiet(), torch.no_grad():
            program = torch.export.export(model, tuple(positional), named, strict=False)
    except Exception as problem:
        raise BridgeError(
            f"{place_of(problem, file.path)}: cannot be exported: {type(problem).__name__}: {first_line(problem)}"
        ) from problem
    given = [leaf for leaf in tree_leaves((positional, _in_order(model, named))) if isinstance(leaf, torch.Tensor)]
    return program, recorder, given


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """The exporter explains its failures at length on standard error; users get the line that matters from us."""
    level = logging.root.manager.disable
    logging.disable(logging.ERROR)
    try:
        with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
            with contextlib.redirect_stdout(io.StringIO()):
                warnings.simplefilter("ignore")
                yield
    finally:
        logging.disable(level)


def _in_order(model: torch.nn.Module, named: dict[str, Any]) -> dict[str, Any]:
    """Keyword arguments as `forward` lists them, which is how the exporter does."""
    order = list(inspect.signature(model.forward).parameters)
    return dict(sorted(named.items(), key=lambda item: order.index(item[0]) if item[0] in order else len(order)))


def _inputs(
    lowered: LoweredGraph, recorder: Recorder, given: list[torch.Tensor]
) -> tuple[list[Leaf], dict[str, Any] | None]:
    if len(lowered.inputs) != len(given):
        raise BridgeError(f"forward takes {len(lowered.inputs)} tensors, get_inputs gives {len(given)}")
    values = {name: recorder.value_of(tensor) for (name, _), tensor in zip(lowered.inputs, given, strict=True)}
    for name, value in values.items():
        if value is None:
            raise BridgeError(f"the input {name} is not made by torch, so that nobody knows how to draw another one")
    computed = _computed_values(recorder.recipe, [value for value in values.values() if value is not None])
    leaves = []
    for (name, value), tensor in zip(values.items(), given, strict=True):
        draw = {"kind": "computed", "output": computed.index(value)} if value in computed else recorder.recipe.draw_of(value)
        leaves.append(Leaf.like(name, tensor, {"draw": draw}))
    return leaves, _input_graph(recorder, computed) if computed else None


def _computed_values(recipe: InputRecipe, values: list[str]) -> list[str]:
    """Those that are more than drawn, and the drawn ones that others are computed from: they must stay together."""
    computed = [value for value in values if recipe.draw_of(value) is None]
    shared = {leaf.name for leaf in recipe.needed_for(computed).leaves}
    shared |= {value for value in values if values.count(value) > 1}
    return list(dict.fromkeys(value for value in values if value in computed or value in shared))


def _input_graph(recorder: Recorder, outputs: list[str]) -> dict[str, Any]:
    recipe = recorder.recipe.needed_for(outputs)
    return {
        "inputs": [leaf.to_json() for leaf in recipe.leaves],
        "nodes": [node.to_json() for node in recipe.nodes],
        "outputs": outputs,
    }


def _contents(
    file: ModuleFile, program: torch.export.ExportedProgram, lowered: LoweredGraph, seed: int
) -> dict[str, torch.Tensor]:
    """From a real construction: an initialisation may depend on anything."""
    contents: dict[str, torch.Tensor] = {}
    if lowered.parameters:
        model = file.make_model(seed, "cpu")
        named = dict(model.named_parameters(remove_duplicate=False)) | dict(model.named_buffers(remove_duplicate=False))
        contents = {path: named[path].detach() for path in lowered.parameters}
    return contents | {name: program.constants[name].detach() for name in lowered.constants}
