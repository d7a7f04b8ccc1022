#include "writer/rewrite_check.hpp"

#include <fmt/format.h>

#include "writer/rewrite/graph_edit.hpp"
#include "writer/rewrite/linear_maps.hpp"
#include "writer/write_program.hpp"

namespace cudal1 {
namespace {

//! Linear maps and who stands next to them.
void add_pairs(const OpGraph& graph, const Node& map, std::vector<std::string>& lines) {
  for (const int index : readers_of(graph, map.outputs[0])) {
    const std::string& reader = graph.nodes[index].name;
    if (reader.starts_with(map.name + "_bias")) continue;  // what `split` has made, which `fold` would undo
    lines.push_back(fmt::format("fold {} into {}", reader, map.name));
    lines.push_back(fmt::format("merge {} into {}", reader, map.name));
    lines.push_back(fmt::format("commute {} {}", reader, map.name));
  }
  const ValueId input = input_of(map);
  if (input >= 0 && graph.values[input].node >= 0)
    lines.push_back(fmt::format("fold {} into {}", graph.nodes[graph.values[input].node].name, map.name));
}

std::vector<std::string> candidates(const OpGraph& graph) {
  std::vector<std::string> lines = {"drop *", "share *", "simplify *", "hoist *"};
  for (const Node& node : graph.nodes)
    if (is_linear_map(node)) add_pairs(graph, node, lines);
  lines.emplace_back("layout * channels_last");
  for (const Node& node : graph.nodes) lines.push_back(fmt::format("split {}", node.name));
  return lines;
}

}  // namespace

std::vector<std::string> possible_rewrites(const OpGraph& graph, std::string_view text) {
  const auto before = write_program(graph, text);
  if (!before) return {};
  std::vector<std::string> possible;
  for (const std::string& line : candidates(before.value().graph))
    if (write_program(graph, fmt::format("{}\n//! {}\n", text, line))) possible.push_back(line);
  return possible;
}

}  // namespace cudal1
