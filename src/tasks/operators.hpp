// The vocabulary of generated modules: each function adds one line of Python and the nodes that an export has for it.
#pragma once

#include <span>
#include <string_view>

#include "tasks/module.hpp"

namespace cudal1 {

//! "relu", "gelu", "gelu_tanh", "clamp" and so on.
ModuleValue unary(Module& module, std::string_view kind, const ModuleValue& x);
//! Activations that leave something of numbers in this range; none of those that are far.
std::span<const std::string_view> activations(NumberRange range);
//! Other functions of the kind.
std::span<const std::string_view> gentle_functions(NumberRange range);

//! "add", "sub", "mul", "maximum" or "minimum"; sizes broadcast.
ModuleValue binary(Module& module, std::string_view kind, const ModuleValue& x, const ModuleValue& y);
//! x / y, where y is known to keep away from zero.
ModuleValue divide(Module& module, const ModuleValue& x, const ModuleValue& y);
//! "add", "sub", "mul" or "div" with a number.
ModuleValue with_number(Module& module, std::string_view kind, const ModuleValue& x, double number);

//! "sum", "mean", "amax", "amin", "logsumexp", "var" or "norm" over one dimension.
ModuleValue reduce(Module& module, std::string_view kind, const ModuleValue& x, std::int64_t dim, bool keep);
//! Of everything but the first two dimensions.
ModuleValue spatial_mean(Module& module, const ModuleValue& x);
//! "softmax", "log_softmax" or "cumsum" along a dimension.
ModuleValue along(Module& module, std::string_view kind, const ModuleValue& x, std::int64_t dim);
//! x over its Euclidean length along the last dimension.
ModuleValue normalize(Module& module, const ModuleValue& x);

ModuleValue matmul(Module& module, const ModuleValue& x, const ModuleValue& y);
//! F.scaled_dot_product_attention of (batch, heads, length, width).
ModuleValue attention(Module& module, const ModuleValue& query, const ModuleValue& key, const ModuleValue& value,
                      bool causal);

ModuleValue transpose(Module& module, const ModuleValue& x, std::int64_t a, std::int64_t b);
ModuleValue reshape(Module& module, const ModuleValue& x, const Shape& sizes);
ModuleValue contiguous(Module& module, const ModuleValue& x);
ModuleValue concatenate(Module& module, const std::vector<ModuleValue>& parts, std::int64_t dim);
//! Equal parts of the last dimension.
std::vector<ModuleValue> chunk(Module& module, const ModuleValue& x, std::int64_t parts);

}  // namespace cudal1
