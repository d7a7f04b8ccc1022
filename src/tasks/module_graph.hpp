// A module's description as graph.json (docs/task.md).
#pragma once

#include <string>

#include "tasks/module.hpp"

namespace cudal1 {

//! One leaf or node a line, as the bridge writes them; weights and states are drawn, no file is needed.
std::string graph_text(const Module& module, const std::string& name, const std::string& description);

}  // namespace cudal1
