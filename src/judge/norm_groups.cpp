#include "judge/norm_groups.hpp"

#include <numeric>

#include "graph/operator_name.hpp"
#include "judge/dimensions.hpp"

namespace cudal1 {
namespace {

//! layer_norm, over as many of the last dimensions as its shape names.
NormGroups last_dimensions(const Node& node, const at::Tensor& argument) {
  const auto* shape = argument_as<std::vector<std::int64_t>>(node, 1, "normalized_shape");
  std::vector<std::int64_t> dimensions(shape ? shape->size() : 1);
  std::iota(dimensions.begin(), dimensions.end(), -static_cast<std::int64_t>(dimensions.size()));
  return {argument.sizes().vec(), dimensions};
}

std::optional<NormGroups> groups_of(const Node& node, const at::Tensor& argument) {
  const std::string_view op = base_name(node.op);
  const auto contains = [op](std::string_view part) { return op.find(part) != std::string_view::npos; };
  if (contains("backward")) return std::nullopt;
  if (contains("layer_norm")) return last_dimensions(node, argument);
  if (argument.dim() < 2 || argument.numel() == 0) return std::nullopt;
  if (contains("group_norm")) {
    const bool native = op == "native_group_norm";
    const auto* groups = argument_as<std::int64_t>(node, native ? 6 : 1, native ? "group" : "num_groups");
    if (!groups || *groups < 1) return std::nullopt;
    return NormGroups{{argument.size(0), *groups, -1}, {2}};
  }
  const auto* training = argument_as<bool>(node, 5, contains("instance_norm") ? "use_input_stats" : "training");
  if (training && !*training) return std::nullopt;
  if (contains("instance_norm")) return NormGroups{{argument.size(0), argument.size(1), -1}, {2}};
  if (contains("batch_norm")) return NormGroups{argument.sizes().vec(), all_but(1, argument.dim())};
  return std::nullopt;
}

}  // namespace

std::size_t bias_position(const Node& node) {
  const std::string_view op = base_name(node.op);
  return op.find("layer_norm") != std::string_view::npos || op == "group_norm" ? 3 : 2;
}

std::optional<NormGroups> norm_groups(const Node& node, const at::Tensor& argument) {
  std::optional<NormGroups> groups = groups_of(node, argument);
  const std::string_view op = base_name(node.op);
  const bool is_short = op.ends_with("layer_norm") || op == "group_norm";
  const auto* epsilon = argument_as<double>(node, is_short ? 4 : 7, "eps");
  if (groups && epsilon) groups->epsilon = *epsilon;
  return groups;
}

}  // namespace cudal1
