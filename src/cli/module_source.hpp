#pragma once

#include <string>

#include "graph/task.hpp"

namespace cudal1 {

//! The text of the PyTorch module that a task was made from, which the bridge leaves beside the graph; empty: none.
std::string module_source(const Task& task);

}  // namespace cudal1
