// Which rewrites a graph allows: what a policy may choose from.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "graph/op_graph.hpp"

namespace cudal1 {

//! Lines, without `//!`, each of which the writer carries out behind this text; those that only take work away come
//! first. Names of nodes that some of them add, such as NODE_bias, are seen when the text has them.
std::vector<std::string> possible_rewrites(const OpGraph& graph, std::string_view text = {});

}  // namespace cudal1
