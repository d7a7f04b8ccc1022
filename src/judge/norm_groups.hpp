// Which elements a normalisation takes together.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <vector>

#include "graph/op_graph.hpp"

namespace cudal1 {

//! The sizes to view an argument in, and the dimensions of that view over which each group goes.
struct NormGroups {
  std::vector<std::int64_t> sizes, dimensions;
  double epsilon = 1e-5;  //!< is added to variances
};

//! None for other operators, and where statistics are given instead of computed.
std::optional<NormGroups> norm_groups(const Node& node, const at::Tensor& argument);

//! Of a normalisation's arguments, where its bias is.
std::size_t bias_position(const Node& node);

}  // namespace cudal1
