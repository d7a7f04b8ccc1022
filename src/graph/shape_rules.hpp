// Output shapes of operators for which C++ has no meta kernel (PyTorch keeps those in Python).
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <optional>
#include <vector>

#include "graph/aten_call.hpp"

namespace cudal1 {

//! Meta tensors like the outputs of a convolution or a normalisation; nothing for other operators.
//! Throws Error naming the node when its arguments do not fit together.
std::optional<std::vector<at::Tensor>> outputs_by_rule(const Node& node, const AtenCall& call,
                                                       const std::function<const at::Tensor&(ValueId)>& lookup);

}  // namespace cudal1
