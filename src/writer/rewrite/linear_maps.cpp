#include "writer/rewrite/linear_maps.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "graph/operator_name.hpp"
#include "writer/rewrite/graph_edit.hpp"

namespace cudal1 {

bool is_convolution(const Node& node) {
  constexpr std::array<std::string_view, 7> known{
      "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "convolution"};
  return std::ranges::find(known, base_name(node.op)) != known.end();
}

bool is_linear(const Node& node) { return base_name(node.op) == "linear"; }

ValueId input_of(const Node& node) {
  const auto* input = argument_as<ValueRef>(node, 0, "input");
  return input ? input->id : -1;
}

ValueId weight_of(const Node& node) {
  const auto* weight = argument_as<ValueRef>(node, 1, "weight");
  return weight ? weight->id : -1;
}

std::optional<ValueId> bias_of(const Node& node) {
  const auto* bias = argument_as<ValueRef>(node, 2, "bias");
  return bias && bias->id >= 0 ? std::optional(bias->id) : std::nullopt;
}

std::int64_t groups_of(const Node& node) {
  if (!is_convolution(node)) return 1;
  const auto* groups = argument_as<std::int64_t>(node, base_name(node.op) == "convolution" ? 8 : 6, "groups");
  return groups ? *groups : 1;
}

std::size_t channel_dimension(const OpGraph& graph, const Node& node) {
  return is_convolution(node) ? 1 : graph.values[node.outputs[0]].meta.sizes.size() - 1;
}

ValueId insert_per_channel_view(OpGraph& graph, int position, const std::string& name, ValueId vector, ValueId result) {
  const TensorMeta& given = graph.values[vector].meta;
  const std::size_t dimensions = graph.values[result].meta.sizes.size() - 1;
  TensorMeta meta{given.dtype, std::vector<std::int64_t>(dimensions, 1), {}};
  meta.sizes[0] = given.sizes.at(0);
  meta.strides.assign(dimensions, given.strides.at(0));
  Node node;
  node.name = derived_name(graph, name, "channels");
  node.op = "aten::view";
  node.args = {ValueRef{vector}, meta.sizes};
  return insert_view(graph, position, std::move(node), meta, vector);
}

}  // namespace cudal1
