"""Operators that draw random numbers. Each draws under a seed made of its node's name, so that whoever runs the task
draws the same: the reference, the oracle, a candidate, and the module itself beside them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils._python_dispatch import TorchDispatchMode

from .random_forms import FORMS, arguments_by_name, made_of_draws

aten = torch.ops.aten

#: As many numbers as their results have elements, whatever else they are given: a seed says what comes out.
#: src/graph/random_nodes.cpp has the same list.
DRAWS = {
    aten.native_dropout.default,  # value and mask
    aten.bernoulli.p,
    aten.rand.default,
    aten.randn.default,
    aten.rand_like.default,
    aten.randn_like.default,
    aten.randint.default,
    aten.randint.low,
    aten.randint_like.default,
    aten.randint_like.low_dtype,
    aten.randperm.default,
    aten.normal.float_float,
    aten.normal_functional.default,
    aten.uniform.default,
    aten.exponential.default,
    aten.geometric.default,
    aten.cauchy.default,
    aten.log_normal.default,
}
#: What writes its first argument, and what draws the same without that.
PLAIN_FORMS = {
    aten.bernoulli_.float: aten.bernoulli.p,
    aten.bernoulli_.Tensor: aten.bernoulli.Tensor,
    aten.normal_.default: aten.normal_functional.default,
    aten.uniform_.default: aten.uniform.default,
    aten.exponential_.default: aten.exponential.default,
    aten.geometric_.default: aten.geometric.default,
    aten.cauchy_.default: aten.cauchy.default,
    aten.log_normal_.default: aten.log_normal.default,
    aten.dropout_.default: aten.dropout.default,
    aten.feature_dropout_.default: aten.feature_dropout.default,
    aten.alpha_dropout_.default: aten.alpha_dropout.default,
    aten.feature_alpha_dropout_.default: aten.feature_alpha_dropout.default,
    aten.rrelu_.default: aten.rrelu.default,
    aten.rrelu_with_noise_.default: aten.rrelu_with_noise.default,
}
_asked_by_values = {aten.poisson, aten.binomial, aten._standard_gamma, aten._sample_dirichlet}
_switches = ("train", "training")
_probabilities = ("p", "dropout_p", "dropout")
_recurrent = ("aten::lstm", "aten::gru", "aten::rnn_")


def draws_random_numbers(op: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> bool:
    """Dropout and its kin carry the tag even where they draw nothing."""
    if torch.Tag.nondeterministic_seeded not in op.tags:
        return False
    given = arguments_by_name(op, args, kwargs)
    is_off = any(given.get(name) is False for name in _switches)
    draws_nothing = any(isinstance(given.get(name), int | float) and given[name] == 0 for name in _probabilities)
    return not (is_off or draws_nothing)


def why_not_repeatable(op: Any) -> str:
    many = "as many random numbers as its values ask for" if op.overloadpacket in _asked_by_values else "random numbers"
    return f"{op.name()} draws {many}"


def seed_of_node(name: str) -> int:
    """FNV-1a, as src/graph/random_nodes.cpp computes it."""
    value = 0xCBF29CE484222325
    for byte in name.encode():
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value >> 1


@contextlib.contextmanager
def seeded_draws(graph: dict[str, Any]) -> Iterator[None]:
    """The module's draws, in order, are those of the task's nodes."""
    drawing = {operator.name() for operator in DRAWS}
    nodes = [node for node in graph["nodes"] if node["op"] in drawing]
    if not nodes:
        yield
        return
    with contextlib.ExitStack() as entered:
        # Others than these draw inside of one kernel what nobody can repeat.
        entered.enter_context(sdpa_kernel(SDPBackend.MATH))
        if any(node["op"].startswith(_recurrent) for node in graph["nodes"]):
            entered.enter_context(torch.backends.cudnn.flags(enabled=False))
        entered.enter_context(_SeededDraws(nodes))
        yield


class _SeededDraws(TorchDispatchMode):
    def __init__(self, nodes: list[dict[str, Any]]) -> None:
        super().__init__()
        self._nodes = iter(nodes)

    def __torch_dispatch__(self, target: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        plain = PLAIN_FORMS.get(target, target)
        if plain in DRAWS:
            return self._draw(target, *args, **kwargs)
        if plain not in FORMS or not draws_random_numbers(target, args, kwargs):
            return target(*args, **kwargs)
        made = made_of_draws(self._draw, plain, args, kwargs)
        return made if plain is target else args[0].copy_(made)

    def _draw(self, op: Any, *args: Any, **kwargs: Any) -> Any:
        plain = PLAIN_FORMS.get(op, op)
        if plain not in DRAWS:
            return op(*args, **kwargs)
        node = next(self._nodes)
        torch.manual_seed(seed_of_node(node["name"]))
        if plain is op or plain.name() != node["op"]:  # on a CPU, dropout draws its mask in place
            return op(*args, **kwargs)
        given = arguments_by_name(op, args, kwargs)  # in another layout it would draw in another order
        return args[0].copy_(plain(**given))
