#include "writer/rewrite/reductions.hpp"

#include "graph/operator_name.hpp"

namespace cudal1 {

std::optional<LinearReduction> linear_reduction(const OpGraph& graph, const Node& node) {
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
