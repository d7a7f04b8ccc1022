// Variances that a task writes out in nodes: mean((x - mean(x))^2).
#pragma once

#include <optional>
#include <vector>

#include "graph/op_graph.hpp"

namespace cudal1 {

//! An honest program may compute it in one pass, from sums of x and of its squares.
struct WrittenVariance {
  ValueId argument = -1;                 //!< x
  std::vector<std::int64_t> dimensions;  //!< over which the mean goes; empty: all
  bool is_sum = false;                   //!< of the squares, not their mean
};

//! What the node computes, if it is the mean, or the sum, of squared distances from a mean.
std::optional<WrittenVariance> written_variance(const OpGraph& graph, const Node& node);

}  // namespace cudal1
