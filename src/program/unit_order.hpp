// What runs as one: a group of replaced nodes, or a single node of the library; and in which order.
#pragma once

#include <vector>

#include "graph/op_graph.hpp"
#include "program/directives.hpp"

namespace cudal1 {

struct Unit {
  int group = -1;          //!< index into ParsedProgram::groups; -1: a library node
  std::vector<int> nodes;  //!< ascending, without views
};

struct UnitOrder {
  std::vector<Unit> units;        //!< in the order in which they run
  std::vector<int> unit_of_node;  //!< -1 for views
};

//! The value whose memory this one uses.
ValueId base_of(const OpGraph& graph, ValueId value);

//! Does the node only make views, so that there is nothing to run?
bool is_view_node(const OpGraph& graph, const Node& node);

//! Throws Rejection when a group cannot run as one because its nodes need, in between, what others compute.
UnitOrder order_units(const OpGraph& graph, const std::vector<GroupDirective>& groups);

}  // namespace cudal1
