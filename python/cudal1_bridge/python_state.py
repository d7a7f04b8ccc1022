"""What forward changes in Python: attributes and globals that are no buffers. The exporter freezes what they hold, so a
module that computes otherwise after an earlier call cannot become a task; one that only keeps a cache can."""

from __future__ import annotations

import ast
import collections
import contextlib
import operator
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from .errors import BridgeError
from .module_file import ModuleFile

_plain = (bool, int, float, complex, str, bytes, type(None))
_lists = (list, tuple, set, frozenset, collections.deque)
_changeable = (list, set, dict, collections.deque)
#: What every module has; of these only the mode is a plain attribute that forward may read.
_of_all_modules = set(vars(torch.nn.Module())) - {"training"}

Place = tuple[str, str]  #: of what holds it ("" is the model itself), and its name there


@dataclass
class _Picture:
    """What attributes held at a moment. Lists and dictionaries are copied, since they change in place."""

    held: dict[Place, Any] = field(default_factory=dict)
    parts: dict[Place, Any] = field(default_factory=dict)  #: of lists and dictionaries, to put them back
    copies: dict[Place, Any] = field(default_factory=dict)  #: all the way down, to compare them


@dataclass
class Watch:
    """Of a model that is being called."""

    file: ModuleFile
    model: torch.nn.Module
    changed: dict[Place, None] = field(default_factory=dict)  #: in the order in which they were found
    replaced: dict[Place, None] = field(default_factory=dict)  #: tensors by others alike: a hidden state

    def __post_init__(self) -> None:
        self._before = _Picture()

    def begin(self) -> None:
        self._before = _picture(self.file, self.model)

    def end(self) -> None:
        """Also puts back what was there: tensors of a trace must not stay, and the exporter objects to some."""
        after = _picture(self.file, self.model)
        for place in self._before.held | after.held:
            if not _is_there_alike(self._before, after, place):
                is_hidden_state = _is_of_model(place) and _look_alike(self._before.held.get(place), after.held.get(place))
                (self.replaced if is_hidden_state else self.changed)[place] = None
                _put_back(self.file, self.model, place, self._before)


@contextlib.contextmanager
def watching(file: ModuleFile, model: torch.nn.Module) -> Iterator[Watch]:
    """Every call of the model in this context is watched."""
    watch = Watch(file, model)
    hooks = [
        model.register_forward_pre_hook(lambda module, inputs: watch.begin()),
        model.register_forward_hook(lambda module, inputs, outputs: watch.end()),
    ]
    try:
        yield watch
    finally:
        for hook in hooks:
            hook.remove()


@contextlib.contextmanager
def kept_buffers(model: torch.nn.Module) -> Iterator[None]:
    """Afterwards buffers are the tensors that they were, with what was in them."""
    homes = [(module._buffers, name) for module in model.modules() for name in module._buffers]
    held = [(home, name, home[name], None if home[name] is None else home[name].clone()) for home, name in homes]
    try:
        yield
    finally:
        with torch.no_grad():
            for home, name, tensor, content in held:
                home[name] = tensor
                if content is not None:
                    tensor.copy_(content)


@contextlib.contextmanager
def kept_attributes(model: torch.nn.Module, paths: list[str]) -> Iterator[None]:
    """Afterwards these are the tensors that they were."""
    homes = [(model.get_submodule(path.rpartition(".")[0]), path.rpartition(".")[2]) for path in paths]
    held = [(home, name, getattr(home, name)) for home, name in homes]
    try:
        yield
    finally:
        for home, name, tensor in held:
            setattr(home, name, tensor)


def refuse_dependence_on_earlier_calls(watch: Watch, seed: int) -> None:
    """Calls the module, on the processor, where a trace has found that it changes something. Raises BridgeError."""
    if not watch.changed:
        return
    try:
        place = _first_dependence(watch, seed)
    except BridgeError:
        raise
    except Exception:
        place = next(iter(watch.changed))
    if place is not None:
        raise BridgeError(
            f"{_line_of_change(watch.file, place[1])}: forward changes {_called(watch.file, place)} from one call to the "
            "next, which a task cannot: its state are buffers (register_buffer)"
        )


def first_call_only(watch: Watch, read: dict[str, torch.Tensor]) -> list[str]:
    """Paths of tensors, no buffers, that forward reads and replaces by others alike, as recurrent modules do with a hidden
    state. A task begins every call with what the constructor made: it is the task of a module's first call. Those that
    forward makes anew before it reads them (the weight under spectral_norm) are no state."""
    homes = {tensor.untyped_storage().data_ptr() for tensor in read.values()}
    return [path for path in _replaced_paths(watch)
            if path in read or operator.attrgetter(path)(watch.model).untyped_storage().data_ptr() in homes]  # fmt: skip


def _replaced_paths(watch: Watch) -> list[str]:
    return [f"{holder}.{name}".removeprefix("self").removeprefix(".") for holder, name in watch.replaced]


def _first_dependence(watch: Watch, seed: int) -> Place | None:
    """None where a call after another one is as the first one would have been."""
    fresh, fresh_after = _call_after(watch, [], seed)
    used, used_after = _call_after(watch, [seed], seed)
    for place in watch.changed:
        if not _is_there_alike(fresh_after, used_after, place, by_content=True):
            return place
    return None if _are_close(fresh, used) else next(iter(watch.changed))


def _call_after(watch: Watch, earlier: list[int], seed: int) -> tuple[list[torch.Tensor], _Picture]:
    """What a call gives and leaves behind, after calls on other inputs; states are as in the beginning."""
    file, model = watch.file, watch.file.make_model(seed, "cpu")
    begin = _picture(file, model)
    with kept_buffers(model), kept_attributes(model, _replaced_paths(watch)):
        for inputs_seed in earlier:
            _call(file, model, inputs_seed)
    outputs = [leaf.clone() for leaf in tree_leaves(_call(file, model, seed + 1)) if isinstance(leaf, torch.Tensor)]
    after = _picture(file, model)
    for place in after.held:
        if not _is_of_model(place):  # it would outlive the model
            _put_back(file, model, place, begin)
    return outputs, after


def _call(file: ModuleFile, model: torch.nn.Module, seed: int) -> Any:
    positional, named = file.make_inputs(seed, "cpu")
    torch.manual_seed(seed)
    with torch.no_grad():
        return model(*positional, **named)


def _are_close(first: list[torch.Tensor], second: list[torch.Tensor]) -> bool:
    if [tensor.shape for tensor in first] != [tensor.shape for tensor in second]:
        return False
    return all(_is_close(a, b) for a, b in zip(first, second, strict=True))


def _is_close(first: torch.Tensor, second: torch.Tensor) -> bool:
    if first.dtype != second.dtype or not first.is_floating_point():
        return torch.equal(first, second)
    return torch.allclose(first, second, rtol=1e-4, atol=1e-6, equal_nan=True)


# --- pictures ---------------------------------------------------------------------------------------------------


def _holders(file: ModuleFile, model: torch.nn.Module) -> dict[str, Any]:
    """The modules, their classes where these are the user's, and the file."""
    modules = {(f"self.{path}" if path else ""): module for path, module in model.named_modules()}
    own = {type(module) for module in modules.values() if type(module).__module__ == file.module.__name__}
    return modules | {kind.__name__: kind for kind in own} | {file.module.__name__: file.module}


def _is_of_model(place: Place) -> bool:
    return place[0] == "" or place[0].startswith("self.")


def _called(file: ModuleFile, place: Place) -> str:
    holder, name = place
    return f"the global {name}" if holder == file.module.__name__ else f"{holder or 'self'}.{name}"


def _picture(file: ModuleFile, model: torch.nn.Module) -> _Picture:
    made = _Picture()
    for path, holder in _holders(file, model).items():
        for name, value in vars(holder).items():
            if not name.startswith("__") and not (isinstance(holder, torch.nn.Module) and name in _of_all_modules):
                made.held[path, name] = value
                made.parts[path, name] = value.copy() if isinstance(value, _changeable) else None
                made.copies[path, name] = _copied(value, file)
    return made


def _copied(value: Any, file: ModuleFile, depth: int = 0) -> Any:
    if depth > 8:
        return value
    if isinstance(value, _lists):
        return [_copied(part, file, depth + 1) for part in value]
    if isinstance(value, dict):
        return {key: _copied(part, file, depth + 1) for key, part in value.items()}
    is_own_object = type(value).__module__ == file.module.__name__ and not isinstance(value, torch.nn.Module)
    if is_own_object and hasattr(value, "__dict__"):
        return {name: _copied(part, file, depth + 1) for name, part in vars(value).items()}
    return value


def _is_there_alike(first: _Picture, second: _Picture, place: Place, by_content: bool = False) -> bool:
    if place not in first.copies or place not in second.copies:
        return (place in first.copies) == (place in second.copies)
    return _is_alike(first.copies[place], second.copies[place], by_content)


def _is_alike(first: Any, second: Any, by_content: bool) -> bool:
    if first is second:
        return True
    if type(first) is not type(second):
        return False
    if isinstance(first, list):
        return len(first) == len(second) and all(_is_alike(a, b, by_content) for a, b in zip(first, second, strict=True))
    if isinstance(first, dict):
        return first.keys() == second.keys() and all(_is_alike(first[key], second[key], by_content) for key in first)
    if isinstance(first, _plain):
        return first == second or first != first and second != second  # not-a-number is alike
    if isinstance(first, torch.Tensor):
        return by_content and _are_close([first], [second])
    return by_content  # nobody knows what it is; what it does to results shows in them


def _look_alike(first: Any, second: Any) -> bool:
    both = isinstance(first, torch.Tensor) and isinstance(second, torch.Tensor)
    return both and first.shape == second.shape and first.dtype == second.dtype


def _put_back(file: ModuleFile, model: torch.nn.Module, place: Place, picture: _Picture) -> None:
    holder = _holders(file, model).get(place[0])
    if holder is None:
        return
    if place not in picture.held:
        type.__delattr__(holder, place[1]) if isinstance(holder, type) else vars(holder).pop(place[1], None)
        return
    value, parts = picture.held[place], picture.parts[place]
    if isinstance(value, _changeable):
        value.clear()
        value.update(parts) if isinstance(value, (dict, set)) else value.extend(parts)
    if isinstance(holder, type):
        setattr(holder, place[1], value)
    else:
        vars(holder)[place[1]] = value


def _line_of_change(file: ModuleFile, name: str) -> str:
    """The first assignment outside constructors, else the first mention."""
    mentions = []
    for function in ast.walk(ast.parse(file.source)):
        if isinstance(function, ast.FunctionDef) and function.name != "__init__":
            for node in ast.walk(function):
                if isinstance(node, (ast.Attribute, ast.Name)) and name in (getattr(node, "attr", ""), getattr(node, "id", "")):
                    mentions.append((not isinstance(node.ctx, ast.Store), node.lineno))
    return f"{file.path}:{min(mentions)[1]}" if mentions else file.place_of_forward()
