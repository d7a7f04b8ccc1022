#include "writer/fusion_check.hpp"

#include <algorithm>

#include "program/rejection.hpp"
#include "program/unit_order.hpp"

namespace cudal1 {

void check_runs_as_one(const OpGraph& graph, const std::set<int>& nodes, SourcePosition at) {
  GroupDirective group;
  group.name = "fuse";
  group.nodes.assign(nodes.begin(), nodes.end());
  group.at = at;
  order_units(graph, {group});
}

const FusionTechnique* technique_that_fuses(const OpGraph& graph, const std::set<int>& nodes) {
  const Region region(graph, nodes);
  for (const FusionTechnique* technique : fusion_techniques()) {
    if (!technique->is_for(region)) continue;
    try {
      technique->write(region, ParameterValues::defaults(technique->description().parameters), {}, "name");
      check_runs_as_one(graph, nodes, {});
      return technique;
    } catch (const Rejection&) {
      return nullptr;
    }
  }
  return nullptr;
}

std::vector<std::set<int>> readers_of_nodes(const OpGraph& graph) {
  std::vector<std::set<int>> readers(graph.nodes.size());
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (is_view_node(graph, graph.nodes[i])) continue;
    for (const ValueId read : OpGraph::reads(graph.nodes[i]))
      if (const int producer = graph.values[base_of(graph, read)].node; producer >= 0)
        readers[producer].insert(static_cast<int>(i));
  }
  return readers;
}

}  // namespace cudal1
