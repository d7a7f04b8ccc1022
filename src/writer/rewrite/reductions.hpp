// Sums and means over dimensions, as rewrites see them.
#pragma once

#include <cstdint>
#include <optional>
#include <set>

#include "graph/op_graph.hpp"

namespace cudal1 {

struct LinearReduction {
  ValueId argument = -1;
  std::set<std::size_t> dimensions;
  bool keeps_dimensions = false;
  bool is_mean = false;
};

//! Nothing: the node is no sum or mean over given dimensions that keeps the dtype, nor pooling into one element.
std::optional<LinearReduction> linear_reduction(const OpGraph& graph, const Node& node);

//! What it makes of a tensor with these sizes; contiguous.
TensorMeta reduced_meta(const TensorMeta& meta, const LinearReduction& reduction);

}  // namespace cudal1
