"""Random operators as what they are made of: draws that depend on sizes alone, and arithmetic around them.

Some draw more than their results show (attention, recurrent layers), some draw as many numbers as their values ask for
(RReLU on a CPU), some compare what they draw with what they are given (bernoulli). The draws become nodes of their own,
which reference, oracle and candidates share; the rest is arithmetic like any other, which a program may compute.

Each form is a function of `call`, which runs an operator on tensors, or makes a node of it, and of the operator's
arguments by the names of its schema.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch

aten = torch.ops.aten

Call = Callable[..., Any]
Form = Callable[..., Any]


def _draws_nothing(input: Any, p: float) -> bool:
    """All is dropped, or there is nothing to drop."""
    return p == 1.0 or 0 in input.shape


def _dropout(call: Call, input: Any, p: float, train: bool) -> Any:
    if _draws_nothing(input, p):
        return call(aten.mul.Scalar, input, 0.0)
    return call(aten.native_dropout.default, input, p, True)[0]


def _native_dropout(call: Call, input: Any, p: float, train: bool | None) -> Any:
    return call(aten.native_dropout.default, input, p, True)


def _channel_noise(call: Call, input: Any, p: float) -> Any:
    """One draw for each channel."""
    shape = [*input.shape[:2], *[1] * (len(input.shape) - 2)]
    ones = call(aten.ones.default, shape, dtype=input.dtype, device=input.device)
    return call(aten.bernoulli.p, ones, 1 - p)


def _feature_dropout(call: Call, input: Any, p: float, train: bool) -> Any:
    if _draws_nothing(input, p):
        return call(aten.mul.Scalar, input, 0.0)
    noise = call(aten.div.Scalar, _channel_noise(call, input, p), 1 - p)
    return call(aten.mul.Tensor, input, noise)


def _alpha_dropout(call: Call, input: Any, p: float, train: bool) -> Any:
    return _with_alpha(call, input, p, lambda: call(aten.bernoulli.p, input, 1 - p))


def _feature_alpha_dropout(call: Call, input: Any, p: float, train: bool) -> Any:
    return _with_alpha(call, input, p, lambda: _channel_noise(call, input, p))


def _with_alpha(call: Call, input: Any, p: float, draw: Callable[[], Any]) -> Any:
    """What is dropped becomes SELU's limit, and the whole keeps its mean and variance."""
    if _draws_nothing(input, p):
        return call(aten.mul.Scalar, input, 0.0)
    alpha = 1.7580993408473766
    a = 1.0 / math.sqrt((alpha * alpha * p + 1) * (1 - p))
    noise = draw()
    shift = call(aten.add.Scalar, noise, -1.0)
    shift = call(aten.add.Scalar, call(aten.mul.Scalar, shift, alpha * a), alpha * a * p)
    kept = call(aten.mul.Tensor, input, call(aten.mul.Scalar, noise, a))
    return call(aten.add.Tensor, kept, shift)


def _scaled_dot_product_attention(
    call: Call, query: Any, key: Any, value: Any, attn_mask: Any, dropout_p: float, is_causal: bool,
    scale: float | None, enable_gqa: bool,
) -> Any:  # fmt: skip
    factor = 1.0 / math.sqrt(query.shape[-1]) if scale is None else scale
    if enable_gqa:
        key, value = (_repeated_heads(call, part, query) for part in (key, value))
    scaled = call(aten.mul.Scalar, query, factor)
    scores = call(aten.matmul.default, scaled, call(aten.transpose.int, key, -2, -1))  # (…, L, S)
    if is_causal:
        ones = call(aten.ones.default, list(scores.shape[-2:]), dtype=torch.bool, device=query.device)
        scores = call(aten.masked_fill.Scalar, scores, call(aten.triu.default, ones, 1), -math.inf)
    if attn_mask is not None:
        scores = _masked(call, scores, attn_mask)
        shares = call(aten._safe_softmax.default, scores, -1)  # a row without any place to look at gives zeros
    else:
        shares = call(aten.softmax.int, scores, -1)
    return call(aten.matmul.default, _dropout(call, shares, dropout_p, True), value)


def _repeated_heads(call: Call, part: Any, query: Any) -> Any:
    times = query.shape[-3] // part.shape[-3]
    return part if times == 1 else call(aten.repeat_interleave.self_int, part, times, -3)


def _masked(call: Call, scores: Any, mask: Any) -> Any:
    if mask.dtype is torch.bool:
        return call(aten.masked_fill.Scalar, scores, call(aten.logical_not.default, mask), -math.inf)
    return call(aten.add.Tensor, scores, mask)


def _lstm(call: Call, input: Any, hx: Sequence[Any], **rest: Any) -> Any:
    has_projections = hx[0].shape[2] != hx[1].shape[2]
    return _layer_by_layer(call, aten.lstm.input, input, hx, weights_each=2 + has_projections, **rest)


def _gru(call: Call, input: Any, hx: Any, **rest: Any) -> Any:
    return _layer_by_layer(call, aten.gru.input, input, [hx], weights_each=2, **rest)


def _rnn_tanh(call: Call, input: Any, hx: Any, **rest: Any) -> Any:
    return _layer_by_layer(call, aten.rnn_tanh.input, input, [hx], weights_each=2, **rest)


def _rnn_relu(call: Call, input: Any, hx: Any, **rest: Any) -> Any:
    return _layer_by_layer(call, aten.rnn_relu.input, input, [hx], weights_each=2, **rest)


def _layer_by_layer(
    call: Call, op: Any, input: Any, states: Sequence[Any], *, weights_each: int, params: Sequence[Any],
    has_biases: bool, num_layers: int, dropout: float, train: bool, bidirectional: bool, batch_first: bool,
) -> Any:  # fmt: skip
    directions = 2 if bidirectional else 1
    count = directions * (weights_each + 2 * has_biases)  # tensors of a layer
    sequence = call(aten.transpose.int, input, 0, 1) if batch_first else input  # (T, B, I)
    ends: list[list[Any]] = [[] for _ in states]
    for layer in range(num_layers):
        if layer > 0:
            sequence = _dropout(call, sequence, dropout, True)
        starts = [_part(call, state, layer, directions, num_layers) for state in states]
        start = starts if op is aten.lstm.input else starts[0]
        weights = list(params[layer * count : (layer + 1) * count])
        sequence, *last = call(op, sequence, start, weights, has_biases, 1, 0.0, train, bidirectional, False)
        for end, of_layer in zip(ends, last, strict=True):
            end.append(of_layer)
    output = call(aten.transpose.int, sequence, 0, 1) if batch_first else sequence
    return (output, *(end[0] if num_layers == 1 else call(aten.cat.default, end, 0) for end in ends))


def _part(call: Call, state: Any, layer: int, directions: int, num_layers: int) -> Any:
    if num_layers == 1:
        return state
    return call(aten.slice.Tensor, state, 0, layer * directions, (layer + 1) * directions)


def _rrelu(call: Call, self: Any, lower: float, upper: float, **rest: Any) -> Any:
    drawn = call(aten.rand.default, list(self.shape), dtype=self.dtype, device=self.device)
    noise = call(aten.mul.Scalar, drawn, upper - lower)
    below = call(aten.mul.Tensor, self, call(aten.add.Scalar, noise, lower))
    return call(aten.where.self, call(aten.gt.Scalar, self, 0), self, below)


def _rrelu_and_noise(call: Call, **arguments: Any) -> Any:
    return (_rrelu(call, **arguments),)  # the noise is for gradients


def _bernoulli(call: Call, self: Any, generator: None) -> Any:
    return _bernoulli_of(call, self, self, None)


def _bernoulli_of(call: Call, self: Any, p: Any, generator: None) -> Any:
    drawn = call(aten.rand.default, list(self.shape), dtype=p.dtype, device=self.device)
    return call(aten.to.dtype, call(aten.lt.Tensor, drawn, p), self.dtype)


def _normal(call: Call, mean: Any, std: Any, generator: None) -> Any:
    """The mean, the deviation or both are tensors."""
    tensors = [part for part in (mean, std) if not isinstance(part, int | float)]
    shape = list(torch.broadcast_shapes(*(part.shape for part in tensors)))
    drawn = call(aten.randn.default, shape, dtype=tensors[0].dtype, device=tensors[0].device)
    spread = call(aten.mul.Scalar if isinstance(std, int | float) else aten.mul.Tensor, drawn, std)
    return call(aten.add.Scalar if isinstance(mean, int | float) else aten.add.Tensor, spread, mean)


def _multinomial(call: Call, self: Any, num_samples: int, replacement: bool, generator: None) -> Any:
    if replacement and num_samples > 1:
        return _multinomial_with_replacement(call, self, num_samples)
    zeros = call(aten.zeros.default, list(self.shape), dtype=self.dtype, device=self.device)
    drawn = call(aten.exponential.default, zeros)
    keys = call(aten.div.Tensor, self, drawn)
    if num_samples == 1:
        return call(aten.argmax.default, keys, -1, True)
    return call(aten.topk.default, keys, num_samples, -1)[1]


def _multinomial_with_replacement(call: Call, weights: Any, num_samples: int) -> Any:
    """Places on a line on which each number takes as much as its weight."""
    count = weights.shape[-1]
    ends = call(aten.cumsum.default, weights, -1)
    total = call(aten.slice.Tensor, ends, -1, count - 1, count)
    shape = [*weights.shape[:-1], num_samples]
    drawn = call(aten.rand.default, shape, dtype=weights.dtype, device=weights.device)
    found = call(aten.searchsorted.Tensor, ends, call(aten.mul.Tensor, drawn, total), right=True)
    return call(aten.clamp_max.default, found, count - 1)


#: By the operator that the exporter sees; all of them draw.
FORMS: dict[Any, Form] = {
    aten.dropout.default: _dropout,
    aten.native_dropout.default: _native_dropout,
    aten.feature_dropout.default: _feature_dropout,
    aten.alpha_dropout.default: _alpha_dropout,
    aten.feature_alpha_dropout.default: _feature_alpha_dropout,
    aten.scaled_dot_product_attention.default: _scaled_dot_product_attention,
    aten.lstm.input: _lstm,
    aten.gru.input: _gru,
    aten.rnn_tanh.input: _rnn_tanh,
    aten.rnn_relu.input: _rnn_relu,
    aten.rrelu.default: _rrelu,
    aten.rrelu_with_noise.default: _rrelu,
    aten.rrelu_with_noise_functional.default: _rrelu_and_noise,
    aten.bernoulli.default: _bernoulli,
    aten.bernoulli.Tensor: _bernoulli_of,
    aten.normal.Tensor_float: _normal,
    aten.normal.float_Tensor: _normal,
    aten.normal.Tensor_Tensor: _normal,
    aten.multinomial.default: _multinomial,
}


def arguments_by_name(op: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Given or by default."""
    given = {argument.name: argument.default_value for argument in op._schema.arguments}
    return given | dict(zip(given, args, strict=False)) | dict(kwargs)


def made_of_draws(call: Call, op: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """The results of an operator of FORMS."""
    return FORMS[op](call, **arguments_by_name(op, args, kwargs))
