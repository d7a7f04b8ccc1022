"""From torch.export's graph to the nodes of a task: in-place operators become plain ones, what is no computation
goes away, and buffers that are written become state."""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch._guards import detect_fake_mode
from torch.export.graph_signature import ConstantArgument, InputKind, OutputKind, TensorArgument
from torch.fx import Node as FxNode
from torch.fx.node import map_aggregate
from torch.utils._pytree import tree_leaves, tree_map

from .autocast_regions import spell_out_autocast
from .batch_norm_forms import NEW_STATISTICS, original_batch_norm
from .errors import BridgeError
from .graph import Node, ValueName, dtype_names
from .naming import Names, form_without_out, identifier, identities, name_of_path, operator_name, plain_form
from .random_forms import FORMS, arguments_by_name, made_of_draws
from .random_nodes import DRAWS, PLAIN_FORMS, draws_random_numbers, why_not_repeatable
from .unwritten import gives_unwritten_memory, objection_to_zeros, zeros_instead

aten = torch.ops.aten

# Checks of the exporter, not computations.
_dropped = {aten._assert_tensor_metadata.default, aten._assert_scalar.default, aten._assert_async.msg}
# Shapes that ATen can only tell by running an operator, the executor has it run; not on more than this.
_largest_trial = 2**30
_torch_folder = str(Path(torch.__file__).parent)
# operator -> (arguments that it writes, the argument that says so); its schema is silent about it
_silent_writers = {
    aten.batch_norm.default: ((3, 4), 5),
    aten.native_batch_norm.default: ((3, 4), 5),
    aten.instance_norm.default: ((3, 4), 5),
}


@dataclass(frozen=True)
class _Made:
    """A value of the task while an operator is being replaced by others."""

    source: FxNode | str  #: of the exporter's graph, or the name that it has in the task
    meta: torch.Tensor  #: without contents

    @property
    def shape(self) -> torch.Size:
        return self.meta.shape

    @property
    def dtype(self) -> torch.dtype:
        return self.meta.dtype

    @property
    def device(self) -> torch.device:
        return self.meta.device


class NeedsFunctionalization(Exception):
    """A value is written while other names for its memory are still in use, or a part of the graph is a graph of its
    own, such as what runs under autocast."""


@dataclass
class LoweredGraph:
    inputs: list[tuple[str, FxNode]] = field(default_factory=list)  #: name, placeholder
    parameters: dict[str, FxNode] = field(default_factory=dict)  #: by path; parameters and buffers
    constants: dict[str, FxNode] = field(default_factory=dict)  #: by name in ExportedProgram.constants
    nodes: list[Node] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    written: list[str] = field(default_factory=list)  #: paths of buffers that a call changes
    names: dict[str, str] = field(default_factory=dict)  #: of parameters, buffers and constants, by path


def lower(program: torch.export.ExportedProgram, model: torch.nn.Module) -> LoweredGraph:
    """Raises BridgeError with the user's line."""
    held = {name for name in program.constants if _holds(model, name)}
    try:
        return _Lowering(program, held).run()
    except NeedsFunctionalization:
        spell_out_autocast(program)
        plain = program.run_decompositions({})
    try:
        return _Lowering(plain, held).run()
    except NeedsFunctionalization as problem:
        raise BridgeError("a part of forward is a graph of its own (control flow), which a task cannot have") from problem


def _holds(model: torch.nn.Module, path: str) -> bool:
    try:
        return isinstance(operator.attrgetter(path)(model), torch.Tensor)
    except AttributeError:
        return False


class _Lowering:
    def __init__(self, program: torch.export.ExportedProgram, held: set[str]) -> None:
        self._program = program
        self._held = held  # constants that the model has as attributes
        self._result = LoweredGraph()
        self._names = Names()
        self._values: dict[FxNode, Any] = {}  # a name, or a list of names for several results
        self._tensor: dict[FxNode, FxNode] = {}  # the node that first gave this very tensor
        self._memory: dict[FxNode, FxNode] = {}  # tensor -> the tensor whose memory it may share
        self._paths: dict[FxNode, str] = {}  # placeholders of parameters and buffers
        self._positions = {node: i for i, node in enumerate(program.graph.nodes)}
        metas = [node.meta.get("val") for node in program.graph.nodes]
        self._fake_mode = detect_fake_mode(metas) or contextlib.nullcontext()

    def run(self) -> LoweredGraph:
        self._place_leaves()
        for node in self._program.graph.nodes:
            if node.op == "call_function":
                _refuse_results(node)
                self._lower_call(node)
            elif node.op == "get_attr":
                raise NeedsFunctionalization
        self._place_outputs()
        if not self._result.nodes:
            raise BridgeError("forward computes nothing: a task has at least one operator")
        return self._result

    # --- leaves and outputs -------------------------------------------------------------------------------------

    def _place_leaves(self) -> None:
        placeholders = [node for node in self._program.graph.nodes if node.op == "placeholder"]
        for node, spec in zip(placeholders, self._program.graph_signature.input_specs, strict=True):
            if isinstance(spec.arg, ConstantArgument):
                continue  # a number or a string: the exporter has put it in place
            if not isinstance(spec.arg, TensorArgument):
                place = next((_place(user) for user in node.users), "")
                kind = getattr(spec.arg, "class_fqn", type(spec.arg).__name__)
                raise BridgeError(f"{place}forward uses an object of type {kind}, which a task cannot have")
            self._values[node] = self._place_leaf(node, spec)
            self._tensor[node] = self._memory[node] = node

    def _place_leaf(self, node: FxNode, spec: Any) -> str:
        if spec.kind == InputKind.USER_INPUT:
            name = self._names.take(identifier(node.name))
            self._result.inputs.append((name, node))
            return name
        if spec.kind in (InputKind.PARAMETER, InputKind.BUFFER):
            self._paths[node] = spec.target
            self._result.parameters[spec.target] = node
        elif spec.kind == InputKind.CONSTANT_TENSOR:
            self._result.constants[spec.target] = node
        else:
            raise BridgeError(f"an input of kind {spec.kind.name}, which a task cannot have")
        self._result.names[spec.target] = self._names.take(name_of_path(spec.target))
        return self._result.names[spec.target]

    def _place_outputs(self) -> None:
        output = next(node for node in self._program.graph.nodes if node.op == "output")
        for result, spec in zip(output.args[0], self._program.graph_signature.output_specs, strict=True):
            if not isinstance(result, FxNode):
                raise BridgeError(f"forward returns a {type(result).__name__} among its outputs; a task returns tensors")
            if spec.kind == OutputKind.USER_OUTPUT:
                self._result.outputs.append(self._name_of(result))
            elif spec.kind == OutputKind.BUFFER_MUTATION:
                if self._name_of(result) == self._result.names[spec.target]:
                    continue  # written where it stands
                self._write_state(aten.copy_.default, spec.target, [ValueName(self._name_of(result))], {})
            else:
                raise BridgeError(f"forward changes {spec.target}, which is not a buffer")

    # --- nodes --------------------------------------------------------------------------------------------------

    def _lower_call(self, node: FxNode) -> None:
        if node.target is operator.getitem:
            self._take_item(node)
        elif node.target in _dropped:
            pass
        elif not isinstance(node.target, torch._ops.OpOverload):
            name = getattr(node.target, "__name__", str(node.target))
            raise BridgeError(f"{_place(node)}{name} is no operator of ATen (functions of torch.func and torch.vmap are none)")
        elif node.target in identities:
            self._tensor[node] = self._tensor[node.args[0]]
        elif node.target._schema.name.endswith("_") and node.target._schema.is_mutable:
            self._lower_in_place(node)
        elif any(argument.is_out for argument in node.target._schema.arguments):
            self._lower_into_given(node)
        elif gives_unwritten_memory(node.target):
            self._promise_memory(node)
        elif (arguments := original_batch_norm(node)) is not None:
            self._lower_batch_norm(node, arguments)
        elif _is_convolution_of_one(node):
            self._lower_convolution_of_one(node)
        else:
            self._values[node] = self._value_of(node, node.target)
            self._tensor[node] = node
            self._memory[node] = self._shared_memory(node)

    def _take_item(self, node: FxNode) -> None:
        source, index = node.args
        self._tensor[node] = node
        self._memory[node] = self._memory_of(source)
        self._values[node] = self._values[self._tensor[source]][index]

    def _lower_batch_norm(self, node: FxNode, arguments: list[Any]) -> None:
        name = self._names.of_node(aten.batch_norm.default)
        made = Node(name, operator_name(aten.batch_norm.default), self._named(arguments))
        self._result.nodes.append(made)
        values = [name] * len(node.meta["val"])
        if node.target is aten._native_batch_norm_legit_functional.default and arguments[5]:
            statistics = [self._name_of(part) for part in arguments[3:5]]
            for statistic in statistics:
                self._mark_written(self._path_of(statistic, node))
            made.writes_state = statistics
            values[NEW_STATISTICS[0] :] = statistics  # whoever reads them from now on reads the new ones
        self._values[node] = values
        self._tensor[node] = self._memory[node] = node

    def _lower_convolution_of_one(self, node: FxNode) -> None:
        """A batch of one: convolutions of a task have batches."""
        image, *rest = self._as_made(node.args)
        batch = self._add(aten.unsqueeze.default, image, 0)
        made = self._add(node.target, batch, *rest, **self._as_made(node.kwargs))
        self._values[node] = self._name_of(self._add(aten.squeeze.dim, made, 0))
        self._tensor[node] = self._memory[node] = node

    def _path_of(self, name: str, node: FxNode) -> str:
        for path, named in self._result.names.items():
            if named == name:
                return path
        raise _refused(node, "updates statistics that are no buffers, which a task cannot")

    def _value_of(self, node: FxNode, target: torch._ops.OpOverload) -> Any:
        """What `target` makes of the node's arguments: a name, or a list of names."""
        if target.namespace != "aten":
            raise BridgeError(f"{_place(node)}{operator_name(target)} is no operator of ATen")
        if target not in DRAWS and draws_random_numbers(target, node.args, node.kwargs):
            return self._made_of_draws(node, target)
        if target._schema.is_mutable:
            raise _refused(node, "writes tensors that it is given, which a task cannot")
        args, kwargs = (node.args, node.kwargs) if target is node.target else _as_schema_wants(target, node)
        kwargs = _with_default_dtype(node, target, dict(kwargs))
        made = Node("", operator_name(target), self._named(args), dict(self._named(kwargs)))
        name = made.name = self._names.of_node(target)
        made.writes_state = self._silently_written(node)
        if target is node.target and _bytes_read(node) > _largest_trial:
            made.outputs = _tensors_of(node)
        self._result.nodes.append(made)
        return _output_names(name, node)

    def _made_of_draws(self, node: FxNode, target: torch._ops.OpOverload) -> Any:
        if target not in FORMS:
            raise BridgeError(f"{_place(node)}{why_not_repeatable(node.target)}, which a task cannot repeat")
        args, kwargs = self._as_made((node.args, node.kwargs))
        made = made_of_draws(self._add, target, args, kwargs)
        return [self._name_of(part) for part in made] if isinstance(made, tuple) else self._name_of(made)

    def _add(self, target: torch._ops.OpOverload, *args: Any, **kwargs: Any) -> Any:
        """A node that the exporter has not seen: what it gives, as _Made."""
        metas = tree_map(lambda a: a.meta if isinstance(a, _Made) else a, (args, kwargs))
        named = tree_map(lambda a: ValueName(self._name_of(a)) if isinstance(a, _Made) else a, (list(args), kwargs))
        with self._fake_mode:
            result = target(*metas[0], **metas[1])
        name = self._names.of_node(target)
        self._result.nodes.append(Node(name, operator_name(target), *named))
        if isinstance(result, torch.Tensor):
            return _Made(name, result)
        return tuple(_Made(f"{name}[{i}]" if i else name, part) for i, part in enumerate(result))

    def _lower_in_place(self, node: FxNode) -> None:
        plain = PLAIN_FORMS.get(node.target) or plain_form(node.target)
        if plain is None or not isinstance(node.args[0], FxNode):
            raise _refused(node, "works in place and has no plain form for one tensor")
        if plain.overloadpacket.__name__.startswith("resize"):
            raise _refused(node, "gives a tensor another size in place, which a task cannot")
        tensor = self._begin_write(node.args[0], node)
        if tensor in self._paths:
            self._write_state(node.target, self._paths[tensor], self._named(node.args[1:]), self._named(node.kwargs))
        else:
            self._values[tensor] = self._in_dtype_of(node, plain, self._value_of(node, plain))
        self._tensor[node] = tensor

    def _in_dtype_of(self, node: FxNode, plain: torch._ops.OpOverload, value: Any) -> Any:
        """What works in place keeps its tensor's dtype, where the plain form promotes (half + float) or compares."""
        if draws_random_numbers(plain, node.args, node.kwargs):
            return value
        args, kwargs = map_aggregate(_as_schema_wants(plain, node), lambda a: a.meta["val"] if isinstance(a, FxNode) else a)
        with self._fake_mode:
            made = plain(*args, **kwargs)
        held = node.meta["val"].dtype
        return value if made.dtype == held else self._name_of(self._add(aten.to.dtype, _Made(value, made), held))

    def _begin_write(self, written: FxNode, writer: FxNode) -> FxNode:
        """The tensor that is written, if that can be."""
        tensor = self._tensor[written]
        memory = self._memory[tensor]
        if memory in self._input_nodes():
            raise BridgeError(f"{_place(writer)}forward writes its input {self._values[memory]}")
        self._refuse_written_attribute(memory, writer)
        self._refuse_other_names(tensor, writer)
        if memory in self._paths and memory is not tensor:  # a part of a buffer
            raise NeedsFunctionalization
        return tensor

    def _lower_into_given(self, node: FxNode) -> None:
        """torch.div(a, b, out=c)."""
        plain = form_without_out(node.target)
        names = [argument.name for argument in node.target._schema.arguments if argument.is_out]
        given = [node.kwargs.get(name) for name in names]
        if plain is None or not all(isinstance(tensor, FxNode) for tensor in given):
            raise _refused(node, "writes tensors that it is given, which a task cannot")
        tensors = [self._begin_write(tensor, node) for tensor in given]
        rest = {name: value for name, value in node.kwargs.items() if name not in names}
        made = self._add(plain, *self._as_made(node.args), **self._as_made(rest))
        for tensor, part in zip(tensors, made if isinstance(made, tuple) else [made], strict=True):
            self._hand_over(part, tensor, node)
        self._tensor[node] = tensors[0] if len(tensors) == 1 else node
        if len(tensors) > 1:
            self._values[node] = [self._name_of(tensor) for tensor in tensors]
            self._memory[node] = node

    def _hand_over(self, made: _Made, tensor: FxNode, writer: FxNode) -> None:
        """What was made is from now on what the tensor holds."""
        held = tensor.meta["val"]
        if made.shape != held.shape and tensor in self._paths:
            path = self._paths[tensor]
            raise BridgeError(f"{_place(writer)}forward gives the buffer {path} another size, which a task cannot")
        if made.dtype != held.dtype:
            made = self._add(aten.to.dtype, made, held.dtype)
        if made.shape == held.shape and made.meta.stride() != held.stride() and tensor not in self._paths:
            made = self._add(aten.copy.default, _Made(tensor, held), made)  # it stays laid out as it was
        if tensor in self._paths:
            self._write_state(aten.copy_.default, self._paths[tensor], [ValueName(self._name_of(made))], {})
        else:
            self._values[tensor] = self._name_of(made)

    def _promise_memory(self, node: FxNode) -> None:
        """Made when somebody wants it: most write all of it."""
        if reason := objection_to_zeros(node):
            raise _refused(node, f"gives memory that nobody wrote, {reason}")
        self._tensor[node] = self._memory[node] = node

    def _zeros_of(self, node: FxNode) -> _Made:
        zeros, args, kwargs = zeros_instead(node)
        return self._add(zeros, *self._as_made(args), **self._as_made(kwargs))

    def _refuse_written_attribute(self, memory: FxNode, writer: FxNode) -> None:
        """A constant that a call makes for itself may be written; one that the model holds would be state."""
        for name, node in self._result.constants.items():
            if node is memory and name in self._held:
                raise BridgeError(
                    f"{_place(writer)}forward writes self.{name}, which is no buffer (register_buffer): a task cannot keep it"
                )

    def _refuse_other_names(self, tensor: FxNode, writer: FxNode) -> None:
        """Other tensors in the same memory would have to change, too, if somebody still reads them."""
        memory = self._memory[tensor]
        for other, home in self._memory.items():
            if home is not memory or other is tensor:
                continue
            aliases = [node for node, same in self._tensor.items() if same is other]
            if any(self._positions[user] > self._positions[writer] for alias in aliases for user in alias.users):
                raise NeedsFunctionalization

    def _write_state(self, target: torch._ops.OpOverload, path: str, args: Any, kwargs: Any) -> None:
        """In place, as the module does it: who reads the state from now on reads the new one."""
        name = self._result.names[path]
        made = Node(self._names.of_node(target), operator_name(target), [ValueName(name), *args], dict(kwargs), [name])
        self._result.nodes.append(made)
        self._mark_written(path)

    def _mark_written(self, path: str) -> None:
        if path not in self._result.written:
            self._result.written.append(path)

    def _silently_written(self, node: FxNode) -> list[str]:
        positions, flag = _silent_writers.get(node.target, ((), 0))
        if not positions or not node.args[flag]:
            return []
        paths = [self._paths[node.args[i]] for i in positions if isinstance(node.args[i], FxNode)]
        for path in paths:
            self._mark_written(path)
        return [self._result.names[path] for path in paths]

    # --- values -------------------------------------------------------------------------------------------------

    def _input_nodes(self) -> Iterable[FxNode]:
        return (node for _, node in self._result.inputs)

    def _name_of(self, given: FxNode | _Made) -> str:
        node = given.source if isinstance(given, _Made) else given
        if isinstance(node, str):
            return node
        tensor = self._tensor[node]
        if tensor not in self._values:  # promised memory
            self._values[tensor] = self._name_of(self._zeros_of(tensor))
        value = self._values[tensor]
        return value[0] if isinstance(value, list) else value

    def _named(self, arguments: Any) -> Any:
        return map_aggregate(arguments, lambda a: ValueName(self._name_of(a)) if isinstance(a, FxNode) else a)

    def _as_made(self, arguments: Any) -> Any:
        return map_aggregate(arguments, lambda a: _Made(a, a.meta["val"]) if isinstance(a, FxNode) else a)

    def _memory_of(self, node: FxNode) -> FxNode:
        return self._memory[self._tensor[node]]

    def _shared_memory(self, node: FxNode) -> FxNode:
        """Of the argument that the schema says the result may be a view of, else its own."""
        schema = node.target._schema
        aliases = {name for ret in schema.returns if ret.alias_info for name in ret.alias_info.before_set}
        for argument, given in zip(schema.arguments, node.args, strict=False):
            if argument.alias_info and aliases & set(argument.alias_info.before_set) and isinstance(given, FxNode):
                return node if _is_copy(node, given) else self._memory_of(given)
        return node


def _tensors_of(node: FxNode) -> list[torch.Tensor]:
    return [value for value in tree_leaves(node.meta.get("val")) if isinstance(value, torch.Tensor)]


def _is_convolution_of_one(node: FxNode) -> bool:
    if not operator_name(node.target).startswith("aten::conv") or not all(isinstance(a, FxNode) for a in node.args[:2]):
        return False
    image, weight = (argument.meta["val"] for argument in node.args[:2])
    return image.dim() == weight.dim() - 1


def _is_copy(node: FxNode, source: FxNode) -> bool:
    """Of operators that copy only where they must: x.half(), x.contiguous(), x.reshape(-1)."""
    made, given = node.meta.get("val"), source.meta.get("val")
    if not isinstance(made, torch.Tensor) or not isinstance(given, torch.Tensor):
        return False
    return made.untyped_storage()._cdata != given.untyped_storage()._cdata


def _bytes_read(node: FxNode) -> int:
    tensors = [tensor for read in node.all_input_nodes for tensor in _tensors_of(read)]
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)


def _refuse_results(node: FxNode) -> None:
    if isinstance(node.meta.get("val"), (torch.SymInt, torch.SymFloat, torch.SymBool)):
        raise BridgeError(
            f"{_place(node)}the value of a tensor is wanted in Python ({node.target}), which a task cannot have: what is "
            "computed would depend on it"
        )
    for tensor in _tensors_of(node):
        if any(isinstance(size, torch.SymInt) for size in tensor.shape):
            raise BridgeError(
                f"{_place(node)}{node.target} gives a tensor whose size depends on values, which a task cannot have"
            )
        if tensor.layout is not torch.strided:
            raise BridgeError(f"{_place(node)}{node.target} gives a sparse tensor, which a task cannot have")
        if tensor.dtype not in dtype_names:
            raise BridgeError(f"{_place(node)}{node.target} gives a tensor of {tensor.dtype}, which a task cannot have")


def _output_names(name: str, node: FxNode) -> Any:
    value = node.meta.get("val")
    if isinstance(value, (list, tuple)):
        return [name if i == 0 else f"{name}[{i}]" for i in range(len(value))]
    return name


def _refused(node: FxNode, reason: str) -> BridgeError:
    return BridgeError(f"{_place(node)}{operator_name(node.target)} {reason}")


def _as_schema_wants(target: torch._ops.OpOverload, node: FxNode) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a node for another operator of the same meaning: defaults of one may be wanted by the other."""
    given = arguments_by_name(node.target, node.args, node.kwargs)
    wanted = [argument for argument in target._schema.arguments[len(node.args) :] if not argument.has_default_value()]
    return node.args, dict(node.kwargs) | {argument.name: given[argument.name] for argument in wanted}


def _with_default_dtype(node: FxNode, target: torch._ops.OpOverload, kwargs: dict[str, Any]) -> dict[str, Any]:
    """Said where the module has set another default (torch.set_default_dtype) than the executor's."""
    default = torch.get_default_dtype()
    made = next(iter(_tensors_of(node)), None)
    if default is torch.float32 or made is None or made.dtype is not default:
        return kwargs
    given = arguments_by_name(target, node.args, kwargs)
    read = (tensor for source in node.all_input_nodes for tensor in _tensors_of(source))
    if given.get("dtype") is not None or any(tensor.is_floating_point() for tensor in read):
        return kwargs
    if "dtype" not in given:
        raise _refused(node, f"computes in the default dtype, which the module sets to {default} and a task cannot: use .to()")
    return kwargs | {"dtype": default}


def _place(node: FxNode) -> str:
    """Where the user's source made this node: the innermost line that is not PyTorch's."""
    trace = node.meta.get("stack_trace") or ""
    lines = [line.strip() for line in trace.splitlines() if line.strip().startswith("File ")]
    if not lines:
        return ""
    path, line = next((line for line in reversed(lines) if _torch_folder not in line), lines[-1]).split(", ")[:2]
    return f"{path.removeprefix('File ').strip(chr(34))}:{line.removeprefix('line ')}: "
