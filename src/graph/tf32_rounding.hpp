// A GPU's TF32 products on the CPU: operands rounded to ten bits of mantissa, products and sums in fp32.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "graph/aten_call.hpp"
#include "graph/executor.hpp"

namespace cudal1 {

//! Rounds to nearest, ties to even, on a copy; only fp32 tensors of the CPU change.
at::Tensor rounded_to_tf32(const at::Tensor& tensor);

//! The values of the node that a GPU would round under this policy: operands of convolutions, and of matrix
//! products where the policy is tf32. Not biases, which are added in fp32.
std::vector<ValueId> tf32_operands(const Node& node, const AtenCall& call, PrecisionPolicy precision);

}  // namespace cudal1
