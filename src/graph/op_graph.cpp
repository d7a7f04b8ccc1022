#include "graph/op_graph.hpp"

#include <algorithm>

namespace cudal1 {
namespace {

void append_reads(const Argument& argument, std::vector<ValueId>& reads) {
  if (const auto* single = std::get_if<ValueRef>(&argument)) reads.push_back(single->id);
  if (const auto* list = std::get_if<ValueList>(&argument))
    for (const ValueRef& element : *list)
      if (element.id >= 0) reads.push_back(element.id);
}

}  // namespace

ValueId OpGraph::find_value(std::string_view name) const {
  if (name.ends_with("[0]")) {
    const int node = find_node(name.substr(0, name.size() - 3));
    return node < 0 || nodes[node].outputs.empty() ? -1 : nodes[node].outputs[0];
  }
  const auto found = std::ranges::find(values, name, &Value::name);
  return found == values.end() ? -1 : static_cast<ValueId>(found - values.begin());
}

int OpGraph::find_node(std::string_view name) const {
  const auto found = std::ranges::find(nodes, name, &Node::name);
  return found == nodes.end() ? -1 : static_cast<int>(found - nodes.begin());
}

std::vector<ValueId> OpGraph::reads(const Node& node) {
  std::vector<ValueId> reads;
  for (const Argument& argument : node.args) append_reads(argument, reads);
  for (const auto& [name, argument] : node.kwargs) append_reads(argument, reads);
  return reads;
}

}  // namespace cudal1
