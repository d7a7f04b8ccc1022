#include "writer/rewrite/reductions.hpp"

#include <algorithm>

#include "graph/operator_name.hpp"

namespace cudal1 {

namespace {

//! Pooling into one element is a mean over all but examples and channels.
std::optional<LinearReduction> global_pooling(const OpGraph& graph, const Node& node) {
  const std::string_view name = base_name(node.op);
  const auto* argument = argument_as<ValueRef>(node, 0, "self");
  const auto* size = argument_as<std::vector<std::int64_t>>(node, 1, "output_size");
  if (!name.starts_with("adaptive_avg_pool") || !argument || !size || node.outputs.size() != 1) return std::nullopt;
  if (std::ranges::any_of(*size, [](std::int64_t element) { return element != 1; })) return std::nullopt;
  LinearReduction made{argument->id, {}, true, true};
  const std::size_t rank = graph.values[argument->id].meta.sizes.size();
  if (rank != size->size() + 2) return std::nullopt;
  for (std::size_t i = 2; i < rank; ++i) made.dimensions.insert(i);
  return made;
}

}  // namespace

std::optional<LinearReduction> linear_reduction(const OpGraph& graph, const Node& node) {
  if (auto pooling = global_pooling(graph, node)) return pooling;
  const bool is_mean = node.op == "aten::mean.dim", is_sum = node.op == "aten::sum.dim_IntList";
  const auto* argument = argument_as<ValueRef>(node, 0, "self");
  const auto* dimensions = argument_as<std::vector<std::int64_t>>(node, 1, "dim");
  if ((!is_mean && !is_sum) || !argument || !dimensions || dimensions->empty() || node.outputs.size() != 1)
    return std::nullopt;
  const TensorMeta &from = graph.values[argument->id].meta, &to = graph.values[node.outputs[0]].meta;
  if (from.dtype != to.dtype || !is_floating(from.dtype)) return std::nullopt;
  const bool* keeps = argument_as<bool>(node, 2, "keepdim");
  LinearReduction made{argument->id, {}, keeps && *keeps, is_mean};
  const auto rank = static_cast<std::int64_t>(from.sizes.size());
  for (const std::int64_t dimension : *dimensions)
    made.dimensions.insert(static_cast<std::size_t>(dimension < 0 ? dimension + rank : dimension));
  return made;
}

TensorMeta reduced_meta(const TensorMeta& meta, const LinearReduction& reduction) {
  TensorMeta made{meta.dtype, {}, {}};
  for (std::size_t i = 0; i < meta.sizes.size(); ++i) {
    if (!reduction.dimensions.contains(i)) made.sizes.push_back(meta.sizes[i]);
    if (reduction.dimensions.contains(i) && reduction.keeps_dimensions) made.sizes.push_back(1);
  }
  made.strides = contiguous_strides(made.sizes);
  return made;
}

}  // namespace cudal1
