"""A module file as a task: what is computed, from which leaves, and how those are made."""

from __future__ import annotations

import contextlib
import io
import logging
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from .dependence import depends_on_inputs
from .errors import BridgeError, Refusal, first_line
from .graph import Leaf, Node
from .input_recipe import InputRecipe, Recorder
from .interface import describe_interface
from .likeness import weights_of
from .lowering import LoweredGraph, lower
from .module_file import ModuleFile, in_order, place_of
from .python_state import Watch, first_call_only, refuse_dependence_on_earlier_calls, watching
from .recurrent_shapes import shapes_from_one_step
from .refusals import (
    place_of_gradient,
    reason_in_layers,
    refuse_inputs,
    refuse_leaves,
    refusing_other_generators,
    refusing_outputs,
)


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
    interface: dict[str, Any]  #: how the module is called (interface.py)
    constants: dict[str, torch.Tensor]  #: those of `tensors` that are no part of the module's state

    def to_json(self) -> dict[str, Any]:
        made: dict[str, Any] = {"format": "cudal1.graph", "version": 1, "name": self.name}
        if self.tensors:
            made["weights_file"] = "weights.safetensors"
            made["fresh_weights_file"] = "fresh_weights.safetensors"
        if not depends_on_inputs(self.inputs, self.nodes, self.outputs):
            made["degenerate"] = True
        if self.input_graph:
            made["input_graph"] = self.input_graph
        for key in ("inputs", "weights", "state", "nodes"):
            if getattr(self, key):
                made[key] = [part.to_json() for part in getattr(self, key)]
        return made | {"outputs": self.outputs}


@dataclass
class Exported:
    program: torch.export.ExportedProgram
    recorder: Recorder  #: of how the inputs were made
    positional: list[Any]
    named: dict[str, Any]
    watch: Watch  #: of what forward changed

    @property
    def tensors(self) -> list[torch.Tensor]:
        """What the program was made with."""
        return [leaf for leaf in tree_leaves((self.positional, self.named)) if isinstance(leaf, torch.Tensor)]


def export_task(file: ModuleFile, name: str, seed: int) -> ExportedTask:
    """Raises BridgeError: one line with the place."""
    with shapes_from_one_step():
        exported = _export(file, seed)
        with _explaining(file, exported.watch.model):
            lowered = lower(exported.program, exported.watch.model)
    refuse_dependence_on_earlier_calls(exported.watch, seed)
    inputs, input_graph = _inputs(lowered, exported.recorder, exported.tensors)
    refuse_leaves({path: node.meta["val"] for path, node in (lowered.parameters | lowered.constants).items()})
    leaves = {path: Leaf.like(lowered.names[path], node.meta["val"], {"key": path})
              for path, node in (lowered.parameters | lowered.constants).items()}
    model = file.make_model(seed, "cpu")  # a real construction: an initialisation may depend on anything
    return ExportedTask(
        name=name,
        source=file.source,
        inputs=inputs,
        weights=[leaf for path, leaf in leaves.items() if path not in lowered.written],
        state=[leaf for path, leaf in leaves.items() if path in lowered.written],
        nodes=lowered.nodes,
        outputs=lowered.outputs,
        input_graph=input_graph,
        tensors=_contents(model, exported.program, lowered),
        fresh_tensors=_contents(
            file.make_model(seed + 1, "cpu") if lowered.parameters else model, exported.program, lowered
        ),
        interface=describe_interface(
            exported.positional, exported.named, exported.program, file.init_arguments(), model, file.module
        )
        | {"first_call_only": first_call_only(exported.watch, _constants(exported.program, lowered))},
        constants=_constants(exported.program, lowered),
    )


def _export(file: ModuleFile, seed: int) -> Exported:
    """Without memory and computation where that is possible: some modules look at their numbers."""
    try:
        exported = _export_on(file, seed, "meta")
    except Refusal:
        raise
    except BridgeError:
        return _export_on(file, seed, "cpu")
    autocast = _autocast_device(exported.program)
    if autocast is not None:
        return _export_under_autocast(file, seed, autocast)
    has_constants = any(spec.kind.name == "CONSTANT_TENSOR" for spec in exported.program.graph_signature.input_specs)
    needs_numbers = has_constants or exported.recorder.lacks_contents
    return _export_on(file, seed, "cpu") if needs_numbers else exported


def _autocast_device(program: torch.export.ExportedProgram) -> str | None:
    """The kind of device for which a part of the module runs under autocast."""
    wrap = torch.ops.higher_order.wrap_with_autocast
    return next((str(node.args[0]) for node in program.graph.nodes if node.target is wrap), None)


def _export_under_autocast(file: ModuleFile, seed: int, device: str) -> Exported:
    """What is cast depends on the kind of device: autocast leaves tensors of other kinds alone."""
    if device == "cuda" and not torch.cuda.is_available():
        raise BridgeError(f"{file.path}: runs under autocast for cuda, which can be exported only where there is a GPU")
    return _export_on(file, seed, device)


def _export_on(file: ModuleFile, seed: int, device: str) -> Exported:
    model = file.make_model(seed, device)
    with Recorder() as recorder:
        positional, named = file.make_inputs(seed, device)
        recorder.adopt(tree_leaves((positional, named)))
    if device == "meta":
        _refuse_changing_sizes(file, positional, named, seed)
    _refuse_changing_literals(file, recorder, seed, device)
    refuse_inputs(file, model, positional, named)
    with contextlib.ExitStack() as entered:
        entered.enter_context(_explaining(file, model))
        watch = entered.enter_context(watching(file, model))
        for context in (refusing_outputs(file, model), refusing_other_generators(file, model), _quiet(), torch.no_grad(),
                        _unchecked_distributions()):  # fmt: skip
            entered.enter_context(context)
        program = torch.export.export(model, tuple(positional), named, strict=False)
    return Exported(program, recorder, positional, in_order(model, named), watch)


def _refuse_changing_sizes(file: ModuleFile, positional: list[Any], named: dict[str, Any], seed: int) -> None:
    """Raises Refusal. A task's inputs have one size; random numbers of others than torch are not under our seeds."""

    def metas(inputs: Any) -> list[Any]:
        return [(leaf.shape, leaf.dtype) for leaf in tree_leaves(inputs) if isinstance(leaf, torch.Tensor)]

    if metas((positional, named)) != metas(file.make_inputs(seed, "meta")):
        place = file.place_of_function(file.module.get_inputs)
        raise Refusal(f"{place}: get_inputs gives tensors of other sizes from call to call; a task's have one")


def _refuse_changing_literals(file: ModuleFile, recorder: Recorder, seed: int, device: str) -> None:
    """Numbers that get_inputs does not draw from torch are the inputs' own only if they are always the same."""
    if not recorder.literals:
        return
    with Recorder() as another:
        another.adopt(tree_leaves(file.make_inputs(seed + 1, device)))
    pairs = zip(recorder.literals, another.literals, strict=False)
    if len(recorder.literals) != len(another.literals) or not all(torch.equal(a, b) for a, b in pairs):
        raise BridgeError(
            f"{file.place_of_function(file.module.get_inputs)}: get_inputs draws numbers that are not made by torch, so "
            "that nobody knows how to draw others"
        )


@contextlib.contextmanager
def _explaining(file: ModuleFile, model: torch.nn.Module) -> Iterator[None]:
    """What the exporter raises becomes a BridgeError with the place."""
    try:
        yield
    except BridgeError:
        raise
    except (Exception, SystemExit) as problem:
        if reason := reason_in_layers(file, model):
            raise Refusal(reason) from problem
        raise BridgeError(_why_not(file, problem)) from problem


def _why_not(file: ModuleFile, problem: BaseException) -> str:
    place = place_of(problem, file.path)
    if place == str(file.path):  # it was found out after the call
        if gradient := place_of_gradient(file):
            return f"{gradient}: forward computes gradients, which a task cannot"
        place = file.place_of_forward()
    return f"{place}: cannot be exported: {type(problem).__name__}: {first_line(problem)}"


@contextlib.contextmanager
def _unchecked_distributions() -> Iterator[None]:
    """Distributions look at their parameters' values, which the exporter has not, only to complain about them."""
    checks = torch.distributions.Distribution._validate_args
    torch.distributions.Distribution.set_default_validate_args(False)
    try:
        yield
    finally:
        torch.distributions.Distribution.set_default_validate_args(checks)


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


def _inputs(
    lowered: LoweredGraph, recorder: Recorder, given: list[torch.Tensor]
) -> tuple[list[Leaf], dict[str, Any] | None]:
    if len(lowered.inputs) != len(given):
        raise BridgeError(f"forward takes {len(lowered.inputs)} tensors, get_inputs gives {len(given)}")
    values = {name: recorder.value_of(tensor) for (name, _), tensor in zip(lowered.inputs, given, strict=True)}
    computed = _computed_values(recorder.recipe, list(values.values()))
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
    model: torch.nn.Module, program: torch.export.ExportedProgram, lowered: LoweredGraph
) -> dict[str, torch.Tensor]:
    named = dict(weights_of(model))
    return {path: named[path].detach() for path in lowered.parameters} | _constants(program, lowered)


def _constants(program: torch.export.ExportedProgram, lowered: LoweredGraph) -> dict[str, torch.Tensor]:
    return {name: program.constants[name].detach() for name in lowered.constants}
