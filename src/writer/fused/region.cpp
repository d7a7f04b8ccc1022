#include "writer/fused/region.hpp"

#include <algorithm>

#include "program/unit_order.hpp"

namespace cudal1 {

Region::Region(const OpGraph& graph, std::set<int> nodes) : graph_(graph), nodes_(std::move(nodes)) {
  for (const int node : nodes_)
    if (!is_view_node(graph, graph.nodes[node])) computing_.push_back(node);
  find_outputs();
}

bool Region::makes(ValueId value) const {
  const int node = graph_.values[value].node;
  return std::ranges::find(computing_, node) != computing_.end();
}

bool Region::reads(ValueId value) const {
  return std::ranges::any_of(computing_, [&](int node) {
    const auto is_it = [&](ValueId read) { return base_of(graph_, read) == value; };
    return std::ranges::any_of(OpGraph::reads(graph_.nodes[node]), is_it);
  });
}

void Region::find_outputs() {
  std::set<ValueId> needed;
  for (const ValueId output : graph_.outputs) needed.insert(base_of(graph_, output));
  for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
    if (std::ranges::find(computing_, static_cast<int>(i)) != computing_.end()) continue;
    if (is_view_node(graph_, graph_.nodes[i])) continue;
    for (const ValueId read : OpGraph::reads(graph_.nodes[i])) needed.insert(base_of(graph_, read));
  }
  for (const ValueId value : needed)
    if (makes(value)) outputs_.push_back(value);
}

}  // namespace cudal1
