"""python -m cudal1_bridge.eager MODULE.py …: runs the module itself, in eager PyTorch, on inputs and weights that
somebody else chose, and writes what comes out. The other side of the comparison is the task that was made of it."""

from __future__ import annotations

import argparse
import contextlib
import json
import operator
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch.utils._pytree import tree_leaves, tree_map

from .errors import BridgeError, first_line, with_place
from .module_file import ModuleFile, in_order, load_module_file, place_of
from .python_state import kept_attributes, kept_buffers
from .random_nodes import seeded_draws
from .safetensors_file import load_tensors, save_tensors
from .tensors import plain_tensors


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="cudal1_bridge.eager", description="Runs a module in eager PyTorch.")
    parser.add_argument("module", type=Path, help="a file with Model, get_inputs and get_init_inputs")
    parser.add_argument("--task", type=Path, required=True, help="the task folder that was made of it")
    parser.add_argument("--inputs", type=Path, required=True, help="safetensors: the task's inputs by name")
    parser.add_argument("--device", default="cpu", help="cpu or cuda (default: cpu)")
    parser.add_argument("-o", "--output", type=Path, required=True, help="safetensors: outputs by number, state by name")
    options = parser.parse_args(arguments)
    try:
        file = load_module_file(options.module)
        run = EagerRun(file, options.task, torch.device(options.device))
        run.load_weights(options.task / "weights.safetensors")
        run.call_before()
        save_tensors(run(load_tensors(options.inputs)), options.output)
    except (BridgeError, TypeError) as problem:  # a result may be of a type that files do not know
        print(f"cudal1: {with_place(problem, options.module.resolve())}", file=sys.stderr)
        return 1
    return 0


class EagerRun:
    """A model and how its task calls its tensors."""

    def __init__(self, file: ModuleFile, task: Path, device: torch.device) -> None:
        self._file = file
        self._graph = json.loads((task / "graph.json").read_text())
        interface = task / "interface.json"
        self._first_call_only = json.loads(interface.read_text()).get("first_call_only", []) if interface.exists() else []
        self._device = device
        self._model = file.make_model(0, "cpu").to(device)
        for part, name, tensor in plain_tensors(self._model):
            setattr(part, name, tensor.to(device))

    def load_weights(self, path: Path) -> None:
        named = self._named_tensors()
        stored = load_tensors(path) if path.exists() else {}
        with torch.no_grad():
            for key, tensor in stored.items():
                held = named.get(key)
                if held is None:
                    held = _attribute(self._model, key)
                if held is not None:
                    held.copy_(tensor)

    def _named_tensors(self) -> dict[str, torch.Tensor]:
        named: dict[str, torch.Tensor] = dict(self._model.named_parameters(remove_duplicate=False))
        return named | dict(self._model.named_buffers(remove_duplicate=False))

    def __call__(self, inputs: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        """Outputs as "0", "1", …; the state after the call as "state/NAME"."""
        outputs = tree_leaves(self._forward(*self._arguments(inputs)))
        held = self._named_tensors()
        state = {f"state/{leaf['name']}": held[leaf["key"]].detach() for leaf in self._graph.get("state", [])}
        return {str(i): tensor for i, tensor in enumerate(outputs)} | state

    def call_before(self) -> None:
        """A call on other inputs, which must not matter to the next one but for buffers; those are put back."""
        with kept_buffers(self._model), kept_attributes(self._model, self._first_call_only), self._kept_parameters():
            self._forward(*tree_map(self._moved, self._file.make_inputs(1, str(self._device))))
        if self._device.type == "cuda":
            torch.cuda.empty_cache()  # others compare at the same time

    @contextlib.contextmanager
    def _kept_parameters(self) -> Iterator[None]:
        """Those that are state: embeddings with `max_norm` write theirs."""
        written = {leaf["key"] for leaf in self._graph.get("state", [])}
        kept = [(held, held.detach().clone()) for key, held in self._model.named_parameters() if key in written]
        yield
        with torch.no_grad():
            for held, before in kept:
                held.copy_(before)

    def _forward(self, positional: list[Any], named: dict[str, Any]) -> Any:
        try:
            with torch.no_grad(), torch.device(self._device), seeded_draws(self._graph):
                return self._model(*positional, **named)
        except Exception as problem:
            raise BridgeError(
                f"{place_of(problem, self._file.path)}: forward raises {type(problem).__name__}: {first_line(problem)}"
            ) from problem

    def _moved(self, part: Any) -> Any:
        return part.to(self._device) if isinstance(part, torch.Tensor) else part

    def _arguments(self, inputs: dict[str, torch.Tensor]) -> tuple[list[Any], dict[str, Any]]:
        """What get_inputs gives, with other numbers in its tensors."""
        positional, named = self._argument_structure()
        tensors: Iterator[torch.Tensor] = (self._placed(leaf, inputs) for leaf in self._graph.get("inputs", []))
        return tree_map(
            lambda part: next(tensors) if isinstance(part, torch.Tensor) else part,
            (positional, in_order(self._model, named)),
        )

    def _argument_structure(self) -> tuple[list[Any], dict[str, Any]]:
        try:
            return self._file.make_inputs(0, "meta")
        except BridgeError:  # some look at their numbers
            return self._file.make_inputs(0, "cpu")

    def _placed(self, leaf: dict[str, Any], inputs: dict[str, torch.Tensor]) -> torch.Tensor:
        stored = inputs[leaf["name"]]
        strides = leaf.get("strides", stored.stride())
        return torch.empty_strided(stored.shape, strides, dtype=stored.dtype, device=self._device).copy_(stored)


def _attribute(model: torch.nn.Module, path: str) -> torch.Tensor | None:
    """A tensor that the model holds without having registered it."""
    try:
        held = operator.attrgetter(path)(model)
    except AttributeError:
        return None  # made anew in every call
    return held if isinstance(held, torch.Tensor) else None


if __name__ == "__main__":
    sys.exit(main())
