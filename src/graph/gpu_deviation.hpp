// Standard deviations on the CPU as a GPU has them: there squares are fp32, and those of numbers below 1e-23 are zero.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "graph/op_graph.hpp"

namespace cudal1 {

//! ATen adds squares up in fp64 on the CPU, and in fp32 on a GPU. Only fp32 results of `std` and `std_mean` change, and
//! of them only those whose square is no normal number.
void underflow_as_on_gpu(const Node& node, std::vector<at::Tensor>& results);

}  // namespace cudal1
