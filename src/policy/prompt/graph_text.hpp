// A task's graph as lines that a model can read and name nodes from.
#pragma once

#include <string>

#include "graph/op_graph.hpp"

namespace cudal1 {

enum class GraphTextForm {
  readable,  //!< under headings
  compact,   //!< one line a value, as few characters as it takes
};

//! The graph must have metas for all its values. Names are spelt as directives spell them.
std::string graph_text(const OpGraph& graph, GraphTextForm form);

}  // namespace cudal1
