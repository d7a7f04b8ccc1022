#include "judge/reduction_length.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <string_view>

#include "judge/operator_name.hpp"

namespace cudal1 {
namespace {

const TensorMeta* tensor_argument(const OpGraph& graph, const Node& node, std::size_t index) {
  if (index >= node.args.size()) return nullptr;
  const auto* ref = std::get_if<ValueRef>(&node.args[index]);
  return ref && ref->id >= 0 ? &graph.values[static_cast<std::size_t>(ref->id)].meta : nullptr;
}

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
  const auto contains = [op](auto... parts) { return ((op.find(parts) != std::string_view::npos) || ...); };
  return contains("max", "min", "index", "gather", "embedding", "sort", "topk", "select", "slice") &&
         !contains("softmax", "softmin");
}

}  // namespace

std::int64_t terms_of(const OpGraph& graph, const Node& node) {
  const std::string_view op = base_name(node.op);
  const auto is = [op](auto... names) { return ((op == names) || ...); };
  const auto contains = [op](auto... parts) { return ((op.find(parts) != std::string_view::npos) || ...); };
  const TensorMeta* first = tensor_argument(graph, node, 0);
  const TensorMeta* second = tensor_argument(graph, node, 1);
  if (only_picks(graph, node, op)) return 1;
  if (is("mm", "bmm", "matmul", "linear", "mv", "dot")) return last_size(first);
  if (is("addmm", "baddbmm", "addbmm", "addmv")) return last_size(second);
  if (op == "einsum") return einsum_length(graph, node);
  if (contains("conv")) return convolution_length(node, op, second);
  if (contains("attention") && second && second->sizes.size() >= 2)
    return std::max(second->sizes.end()[-2], second->sizes.back());  // (…, keys, head)
  if (contains("softmax", "cumsum", "cumprod", "cumsumexp")) return size_of_dimension(first, node);
  if (contains("cross_entropy") && first && first->sizes.size() > 1)  // over the classes, then over the rest
    return std::max(first->sizes[1], elements_per(first, first->sizes[1]));
  if (contains("nll_loss")) return elements_per(first, size_at(first, 1));
  if (contains("layer_norm", "rms_norm")) return product_of_list(node, "normalized_shape", last_size(first));
  if (contains("batch_norm", "instance_norm", "group_norm")) return norm_length(graph, node, op);
  // Whatever gives fewer elements than it reads sums the difference; windows that overlap say their size.
  const std::int64_t ratio = largest_input_numel(graph, node) / std::max<std::int64_t>(1, output_numel(graph, node));
  return op.starts_with("avg_pool") ? std::max(ratio, product_of_list(node, "kernel_size", 1)) : ratio;
}

}  // namespace cudal1
