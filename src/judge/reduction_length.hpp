#pragma once

#include <cstdint>

#include "graph/op_graph.hpp"

namespace cudal1 {

//! K of the error budget: how many terms the longest sum in the graph has (1 if there is none).
std::int64_t longest_reduction(const OpGraph& graph);

}  // namespace cudal1
