// A task's graph as rewrites may leave it: lines below them name the nodes of those graphs.
#pragma once

#include <functional>

#include "graph/op_graph.hpp"

namespace cudal1 {

//! Calls `visit` for the graph itself and for what is left of it after all that some of the rewriting techniques
//! could do, for as many combinations of techniques as `most_graphs` allows: each alone, all, all but one, and others.
void for_each_rewritten_graph(const OpGraph& graph, int most_graphs, const std::function<void(const OpGraph&)>& visit);

}  // namespace cudal1
