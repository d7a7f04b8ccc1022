// Reads the leaves, nodes and outputs of graph.json into a task. docs/task.md describes the format.
#pragma once

#include "graph/json_place.hpp"
#include "graph/task.hpp"

namespace cudal1 {

//! Fills `graph` and `leaves` of the task. Throws Error with file and place.
void read_graph(const JsonPlace& root, Task& task);

}  // namespace cudal1
