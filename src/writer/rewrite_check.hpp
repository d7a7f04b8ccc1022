// Which rewrites a graph allows: what a policy may choose from.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "graph/op_graph.hpp"

namespace cudal1 {

//! Lines, without `//!`, that techniques suggest; some may be refused. Those that only take work away come first.
std::vector<std::string> suggested_rewrites(const OpGraph& graph);

//! Those of them each of which the writer carries out behind this text. Names of nodes that some of them add, such as
//! NODE_bias, are seen when the text has them.
std::vector<std::string> possible_rewrites(const OpGraph& graph, std::string_view text = {});

}  // namespace cudal1
