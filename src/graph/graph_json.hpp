// Reads leaves, nodes and outputs: the graph of a task and that of its inputs. docs/task.md describes the format.
#pragma once

#include "graph/json_place.hpp"
#include "graph/task.hpp"

namespace cudal1 {

//! Throws Error with file and place.
void read_graph(const JsonPlace& root, OpGraph& graph, std::vector<LeafSource>& leaves);

}  // namespace cudal1
