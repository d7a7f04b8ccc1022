// Nodes that provably give back one of their arguments.
#pragma once

#include <optional>

#include "graph/op_graph.hpp"

namespace cudal1 {

//! The argument whose elements the result has, in the same order; whether they also lie alike is not looked at.
//! Nothing: it cannot be proven of this node.
std::optional<ValueId> same_elements_as(const OpGraph& graph, const Node& node);

}  // namespace cudal1
