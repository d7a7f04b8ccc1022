#pragma once

#include <cstdint>

#include "graph/op_graph.hpp"

namespace cudal1 {

//! How many terms the node's sums have (1 if it has none).
std::int64_t terms_of(const OpGraph& graph, const Node& node);

}  // namespace cudal1
