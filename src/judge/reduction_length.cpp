#include "judge/reduction_length.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <string_view>

#include "graph/operator_name.hpp"
#include "judge/operator_kinds.hpp"

namespace cudal1 {
namespace {

const TensorMeta* tensor_argument(const OpGraph& graph, const Node& node, std::size_t index) {
  if (index >= node.args.size()) return nullptr;
  const auto* ref = std::get_if<ValueRef>(&node.args[index]);
  return ref && ref->id >= 0 ? &graph.values[static_cast<std::size_t>(ref->id)].meta : nullptr;
}

std::int64_t numel_of(const TensorMeta* meta) { return meta ? meta->numel() : 1; }

std::int64_t last_size(const TensorMeta* meta) { return meta && !meta->sizes.empty() ? meta->sizes.back() : 1; }

std::int64_t largest_size(const TensorMeta* meta) {
  if (!meta || meta->sizes.empty()) return 1;
  return *std::max_element(meta->sizes.begin(), meta->sizes.end());
}

//! The size of the dimension that the node names, which may count from the last.
std::int64_t size_of_dimension(const TensorMeta* meta, const Node& node) {
  const auto* dimension = argument_as<std::int64_t>(node, 1, "dim");
  if (!meta || !dimension) return largest_size(meta);
  const auto rank = static_cast<std::int64_t>(meta->sizes.size());
  const std::int64_t index = *dimension < 0 ? *dimension + rank : *dimension;
  return index >= 0 && index < rank ? meta->sizes[static_cast<std::size_t>(index)] : 1;
}

//! The product of the integers in the argument at position 1; `otherwise` if it is no list.
std::int64_t product_of_list(const Node& node, std::string_view name, std::int64_t otherwise) {
  const auto* list = argument_as<std::vector<std::int64_t>>(node, 1, name);
  return list ? std::accumulate(list->begin(), list->end(), std::int64_t{1}, std::multiplies<>()) : otherwise;
}

std::int64_t elements_per(const TensorMeta* meta, std::int64_t parts) {
  return meta ? meta->numel() / std::max<std::int64_t>(1, std::min(parts, meta->numel())) : 1;
}

std::int64_t size_at(const TensorMeta* meta, std::size_t dimension) {
  return meta && dimension < meta->sizes.size() ? meta->sizes[dimension] : 1;
}

bool is_transposed(const Node& node, std::string_view op) {
  const auto* flag = op == "convolution" ? argument_as<bool>(node, 6, "transposed") : nullptr;
  return op.find("transpose") != std::string_view::npos || (flag && *flag);
}

//! Products of a convolution's sum: the weight's elements over its output channels.
std::int64_t convolution_length(const Node& node, std::string_view op, const TensorMeta* weight) {
  return elements_per(weight, size_at(weight, is_transposed(node, op) ? 1 : 0));
}

//! How many numbers each pair of statistics of a norm is made of.
std::int64_t norm_length(const OpGraph& graph, const Node& node, std::string_view op) {
  const TensorMeta* input = tensor_argument(graph, node, 0);
  const std::int64_t batch = size_at(input, 0), channels = size_at(input, 1);
  if (op.find("batch_norm") != std::string_view::npos) return elements_per(input, channels);
  if (op.find("instance_norm") != std::string_view::npos) return elements_per(input, batch * channels);
  const bool native = op == "native_group_norm";
  const auto* groups = argument_as<std::int64_t>(node, native ? 6 : 1, native ? "group" : "num_groups");
  return elements_per(input, batch * (groups ? *groups : 1));
}

//! The product of the sizes that an equation like "bij,bjk->bik" sums over.
std::int64_t einsum_length(const OpGraph& graph, const Node& node) {
  const auto* equation = argument_as<std::string>(node, 0, "equation");
  const auto* operands = argument_as<ValueList>(node, 1, "tensors");
  if (!equation || !operands) return 1;
  std::string text = *equation;
  std::erase(text, ' ');
  const std::size_t arrow = text.find("->");
  std::string counted = arrow == std::string::npos ? std::string() : text.substr(arrow + 2);
  std::int64_t product = 1;
  std::size_t operand = 0, dimension = 0;
  for (const char letter : text.substr(0, arrow)) {
    if (letter == ',') {
      ++operand;
      dimension = 0;
      continue;
    }
    if (operand >= operands->size() || (*operands)[operand].id < 0) return product;
    const TensorMeta& meta = graph.values[static_cast<std::size_t>((*operands)[operand].id)].meta;
    if (counted.find(letter) == std::string::npos) product *= size_at(&meta, dimension);
    counted += letter;
    ++dimension;
  }
  return product;
}

std::int64_t largest_input_numel(const OpGraph& graph, const Node& node) {
  std::int64_t largest = 1;
  for (const ValueId id : graph.reads(node))
    largest = std::max(largest, graph.values[static_cast<std::size_t>(id)].meta.numel());
  return largest;
}

std::int64_t output_numel(const OpGraph& graph, const Node& node) {
  std::int64_t largest = 1;
  for (const ValueId id : node.outputs)
    largest = std::max(largest, graph.values[static_cast<std::size_t>(id)].meta.numel());
  return largest;
}

//! Views, and operators that choose among elements, round nothing.
bool only_picks(const OpGraph& graph, const Node& node, std::string_view op) {
  if (!node.outputs.empty() && graph.values[static_cast<std::size_t>(node.outputs[0])].view) return true;
  return chooses(op);
}

//! Tensors among the arguments, those in lists included.
std::vector<const TensorMeta*> tensors_of(const OpGraph& graph, const Node& node) {
  std::vector<const TensorMeta*> tensors;
  for (const ValueId id : graph.reads(node)) tensors.push_back(&graph.values[static_cast<std::size_t>(id)].meta);
  return tensors;
}

//! The sizes that broadcasting gives; empty where they do not fit.
std::vector<std::int64_t> broadcast_sizes(const std::vector<const TensorMeta*>& tensors) {
  std::vector<std::int64_t> sizes;
  for (const TensorMeta* tensor : tensors) {
    if (tensor->sizes.size() > sizes.size()) sizes.insert(sizes.begin(), tensor->sizes.size() - sizes.size(), 1);
    for (std::size_t i = 0; i < tensor->sizes.size(); ++i) {
      std::int64_t& size = sizes[sizes.size() - 1 - i];
      const std::int64_t other = tensor->sizes[tensor->sizes.size() - 1 - i];
      if (size != other && size != 1 && other != 1) return {};
      size = std::max(size, other);
    }
  }
  return sizes;
}

//! Are elements combined with those at the same place, and perhaps summed over some dimensions then? The result's sizes
//! are all or some of the tensors' own.
bool combines_in_place(const std::vector<const TensorMeta*>& tensors, const TensorMeta& result) {
  const std::vector<std::int64_t> sizes = broadcast_sizes(tensors);
  auto next = sizes.begin();
  for (const std::int64_t size : result.sizes) {
    if (size == 1) continue;
    next = std::find(next, sizes.end(), size);
    if (next == sizes.end()) return false;
    ++next;
  }
  return true;
}

//! Of an operator that nobody has described: two tensors of M x K and K x N elements that give M x N are summed over K,
//! whatever their dimensions are called; and one that gives fewer elements than it reads sums the difference.
std::int64_t contraction_length(const OpGraph& graph, const Node& node) {
  const std::int64_t results = std::max<std::int64_t>(1, output_numel(graph, node));
  const std::int64_t ratio = std::max<std::int64_t>(1, largest_input_numel(graph, node) / results);
  const std::vector<const TensorMeta*> tensors = tensors_of(graph, node);
  if (node.outputs.empty() || tensors.size() < 2) return ratio;
  if (combines_in_place(tensors, graph.values[static_cast<std::size_t>(node.outputs[0])].meta)) return ratio;
  double largest = static_cast<double>(ratio);
  for (std::size_t i = 0; i < tensors.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const double products = static_cast<double>(tensors[i]->numel()) * static_cast<double>(tensors[j]->numel());
      largest = std::max(largest, std::sqrt(products / static_cast<double>(results)));
    }
  return std::llround(largest);
}

//! Additions to places that an index names may all go to the same one.
std::int64_t indexed_additions(const OpGraph& graph, const Node& node, std::string_view op) {
  if (op.starts_with("index_put")) {
    const auto* adds = argument_as<bool>(node, 3, "accumulate");
    return adds && *adds ? numel_of(tensor_argument(graph, node, 2)) : 1;
  }
  return size_of_dimension(tensor_argument(graph, node, 2), node);
}

//! The sizes that the products of a recurrent cell are summed over are the last ones of its weights.
std::int64_t largest_last_size(const OpGraph& graph, const Node& node) {
  std::int64_t largest = 1;
  for (const TensorMeta* tensor : tensors_of(graph, node)) largest = std::max(largest, last_size(tensor));
  return largest;
}

//! Over the dimensions of the first tensor that a tensordot names.
std::int64_t tensordot_length(const Node& node, const TensorMeta* first) {
  const auto* dimensions = argument_as<std::vector<std::int64_t>>(node, 2, "dims_self");
  if (!first || !dimensions) return numel_of(first);
  const auto rank = static_cast<std::int64_t>(first->sizes.size());
  std::int64_t product = 1;
  for (const std::int64_t given : *dimensions)
    product *= size_at(first, static_cast<std::size_t>(given < 0 ? given + rank : given));
  return product;
}

std::int64_t bag_length(const OpGraph& graph, const Node& node) {
  const TensorMeta* indices = tensor_argument(graph, node, 1);
  return indices && indices->sizes.size() == 2 ? indices->sizes[1] : numel_of(indices);
}

}  // namespace

std::int64_t terms_of(const OpGraph& graph, const Node& node) {
  const std::string_view op = base_name(node.op);
  const auto is = [op](auto... names) { return ((op == names) || ...); };
  const auto contains = [op](auto... parts) { return ((op.find(parts) != std::string_view::npos) || ...); };
  const TensorMeta* first = tensor_argument(graph, node, 0);
  const TensorMeta* second = tensor_argument(graph, node, 1);
  if (only_picks(graph, node, op)) return 1;
  if (is("mm", "bmm", "matmul", "linear", "mv", "dot", "vdot", "inner", "cdist", "pairwise_distance"))
    return last_size(first);
  if (is("addmm", "baddbmm", "addmv")) return last_size(second);
  if (op == "addbmm") return last_size(second) * size_at(second, 0);
  if (op == "tensordot") return tensordot_length(node, first);
  if (is("linalg_multi_dot", "chain_matmul")) return largest_last_size(graph, node);
  if (op == "bilinear") return last_size(first) * last_size(second);
  if (op == "einsum") return einsum_length(graph, node);
  if (contains("index_add", "scatter_add", "scatter_reduce", "index_reduce", "index_put"))
    return indexed_additions(graph, node, op);
  if (contains("embedding_bag")) return bag_length(graph, node);
  if (contains("lstm", "gru", "rnn_tanh", "rnn_relu")) return largest_last_size(graph, node);
  if (is("cov", "corrcoef")) return last_size(first);
  if (contains("conv")) return convolution_length(node, op, second);
  if (contains("attention") && second && second->sizes.size() >= 2)
    return std::max(second->sizes.end()[-2], second->sizes.back());  // (…, keys, head)
  if (contains("softmax", "softmin", "cumsum", "cumprod", "cumsumexp")) return size_of_dimension(first, node);
  if (contains("cross_entropy") && first && first->sizes.size() > 1)  // over the classes, then over the rest
    return std::max(first->sizes[1], elements_per(first, first->sizes[1]));
  if (contains("nll_loss")) return elements_per(first, size_at(first, 1));
  if (contains("layer_norm", "rms_norm")) return product_of_list(node, "normalized_shape", last_size(first));
  if (contains("batch_norm", "instance_norm", "group_norm")) return norm_length(graph, node, op);
  const std::int64_t length = contraction_length(graph, node);
  // Windows that overlap say their size.
  return op.starts_with("avg_pool") ? std::max(length, product_of_list(node, "kernel_size", 1)) : length;
}

}  // namespace cudal1
