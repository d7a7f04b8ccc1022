#include "tasks/module_graph.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cudal1 {
namespace {

using nlohmann::ordered_json;
using Lines = std::vector<std::string>;

ordered_json draw_json(const Draw& draw) {
  switch (draw.kind) {
    case Draw::Kind::normal:
      return {{"kind", "normal"}, {"mean", draw.a}, {"std", draw.b}};
    case Draw::Kind::uniform:
      return {{"kind", "uniform"}, {"low", draw.a}, {"high", draw.b}};
    case Draw::Kind::integers:
      return {{"kind", "integers"}, {"low", draw.a}, {"high", draw.b}};
    case Draw::Kind::bernoulli:
      return {{"kind", "bernoulli"}, {"p", draw.a}};
    case Draw::Kind::constant:
      break;
  }
  return {{"kind", "constant"}, {"value", draw.a}};
}

std::string leaf_line(const ModuleLeaf& leaf) {
  return ordered_json{{"name", leaf.name},
                      {"dtype", std::string(to_string(leaf.dtype))},
                      {"shape", leaf.sizes},
                      {"draw", draw_json(leaf.draw)}}
      .dump();
}

Lines lines_of(const std::vector<ModuleLeaf>& leaves) {
  Lines lines;
  for (const ModuleLeaf& leaf : leaves) lines.push_back(leaf_line(leaf));
  return lines;
}

//! The module's own first, as PyTorch lists them.
Lines weight_lines(const Module& module) {
  Lines lines = lines_of(module.parameters());
  for (const ModuleLayer& layer : module.layers())
    for (const std::string& line : lines_of(layer.weights)) lines.push_back(line);
  return lines;
}

Lines state_lines(const Module& module) {
  Lines lines;
  for (const ModuleLayer& layer : module.layers())
    for (const std::string& line : lines_of(layer.states)) lines.push_back(line);
  return lines;
}

Lines node_lines(const Module& module) {
  Lines lines;
  for (const ModuleStatement& statement : module.statements())
    for (const ordered_json& node : statement.nodes) lines.push_back(node.dump());
  return lines;
}

std::string section(const std::string& key, const Lines& lines) {
  if (lines.empty()) return {};
  return fmt::format("  \"{}\": [\n    {}\n  ],\n", key, fmt::join(lines, ",\n    "));
}

}  // namespace

std::string graph_text(const Module& module, const std::string& name, const std::string& description) {
  ordered_json outputs = ordered_json::array();
  for (const int output : module.outputs()) outputs.push_back(module.values()[output].name);
  return fmt::format(
             "{{\n  \"format\": \"cudal1.graph\",\n  \"version\": 1,\n  \"name\": {},\n  \"description\": {},\n",
             ordered_json(name).dump(), ordered_json(description).dump()) +
         section("inputs", lines_of(module.inputs())) + section("weights", weight_lines(module)) +
         section("state", state_lines(module)) + section("nodes", node_lines(module)) +
         fmt::format("  \"outputs\": {}\n}}\n", outputs.dump());
}

}  // namespace cudal1
