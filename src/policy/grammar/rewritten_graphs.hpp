// A task's graph as rewrites may leave it: lines below them name the nodes of those graphs.
#pragma once

#include <functional>
#include <set>
#include <string>

#include "graph/op_graph.hpp"

namespace cudal1 {

struct RewrittenGraph {
  OpGraph graph;
  std::set<std::string> hoisted;  //!< nodes that run when weights change
};

using GraphVisitor = std::function<void(const RewrittenGraph&)>;

//! Calls `visit` for the graph itself and for what rewriting techniques leave of it: each alone and all of them, and up
//! to so many combinations of others.
void for_each_rewritten_graph(const OpGraph& graph, int most_combinations, const GraphVisitor& visit);

}  // namespace cudal1
