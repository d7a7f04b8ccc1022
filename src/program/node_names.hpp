// Nodes as directives name them: `relu_1`, `conv2d_?`, `relu_*`, `*`.
#pragma once

#include <vector>

#include "graph/op_graph.hpp"
#include "program/directive_tokens.hpp"

namespace cudal1 {

struct NamedNode {
  int node = -1;      //!< index into OpGraph::nodes
  SourcePosition at;  //!< of the name or pattern that chose it
};

//! Reads names and patterns up to `:`, the word `until` or the end, in the order written; a node that two of them
//! choose comes twice. Throws Rejection for a name that no node has.
std::vector<NamedNode> read_node_names(TokenCursor& cursor, const OpGraph& graph, std::string_view until = {});

}  // namespace cudal1
