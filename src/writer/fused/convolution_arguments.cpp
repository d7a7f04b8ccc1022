#include "writer/fused/convolution_arguments.hpp"

#include "graph/operator_name.hpp"

namespace cudal1 {
namespace {

//! Where the overloads have their arguments.
struct Places {
  std::size_t dilation, groups;
};

Places places_of(const Node& node) {
  if (base_name(node.op) == "convolution") return {5, 8};
  return is_transposed_convolution(node) ? Places{7, 6} : Places{5, 6};
}

}  // namespace

bool is_transposed_convolution(const Node& node) {
  const bool* flag = argument_as<bool>(node, 6, "transposed");
  return base_name(node.op).starts_with("conv_transpose") ||
         (base_name(node.op) == "convolution" && flag != nullptr && *flag);
}

std::int64_t groups_of_convolution(const Node& node) {
  const auto* groups = argument_as<std::int64_t>(node, places_of(node).groups, "groups");
  return groups ? *groups : 1;
}

Numbers dilation_of_convolution(const Node& node, std::size_t count) {
  return numbers(node, places_of(node).dilation, "dilation", count, all(1, count));
}

Numbers padding_of_convolution(const Node& node, const Numbers& kernel, const Numbers& dilation) {
  const auto* word = argument_as<std::string>(node, 4, "padding");
  Numbers padding = numbers(node, 4, "padding", kernel.size(), all(0, kernel.size()));
  if (word != nullptr && *word == "same")
    for (std::size_t i = 0; i < kernel.size(); ++i) padding[i] = dilation[i] * (kernel[i] - 1) / 2;
  return padding;
}

std::optional<ConvolutionNode> read_convolution(const OpGraph& graph, const Node& node) {
  const auto* input = argument_as<ValueRef>(node, 0, "input");
  const auto* weight = argument_as<ValueRef>(node, 1, "weight");
  if (!is_direct_convolution(node) || !input || !weight || input->id < 0 || weight->id < 0) return std::nullopt;
  const Numbers& filter = graph.values[weight->id].meta.sizes;
  if (node.outputs.size() != 1 || filter.size() < 3) return std::nullopt;
  if (graph.values[input->id].meta.sizes.size() != filter.size()) return std::nullopt;
  ConvolutionNode made{
      input->id, weight->id, node.outputs.front(), {}, groups_of_convolution(node), is_transposed_convolution(node)};
  const std::size_t count = filter.size() - 2;
  made.sizes.kernel = Numbers(filter.begin() + 2, filter.end());
  made.sizes.stride = numbers(node, 3, "stride", count, all(1, count));
  made.sizes.dilation = dilation_of_convolution(node, count);
  made.sizes.padding = padding_of_convolution(node, made.sizes.kernel, made.sizes.dilation);
  return made;
}

}  // namespace cudal1
