#include "judge/reduction_length.hpp"

#include <algorithm>
#include <string_view>

namespace cudal1 {
namespace {

std::string_view base_name(std::string_view op) {
  if (const auto colons = op.rfind("::"); colons != std::string_view::npos) op.remove_prefix(colons + 2);
  return op.substr(0, op.find('.'));
}

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

//! Products of a convolution's sum: the weight's elements over its output channels (first dimension).
std::int64_t convolution_length(const TensorMeta* weight) {
  if (!weight || weight->sizes.empty()) return 1;
  return weight->numel() / std::max<std::int64_t>(1, std::min(weight->sizes[0], weight->numel()));
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

std::int64_t reduction_of(const OpGraph& graph, const Node& node) {
  const std::string_view op = base_name(node.op);
  const auto is = [op](auto... names) { return ((op == names) || ...); };
  if (is("mm", "bmm", "matmul", "linear", "mv", "dot", "einsum")) return last_size(tensor_argument(graph, node, 0));
  if (is("addmm", "baddbmm", "addbmm", "addmv")) return last_size(tensor_argument(graph, node, 1));
  if (op.find("conv") != std::string_view::npos) return convolution_length(tensor_argument(graph, node, 1));
  if (op.find("attention") != std::string_view::npos) return largest_size(tensor_argument(graph, node, 1));
  if (is("softmax", "_softmax", "log_softmax", "_log_softmax", "logsumexp", "cumsum", "cumprod"))
    return largest_size(tensor_argument(graph, node, 0));
  if (op.find("norm") != std::string_view::npos) {
    const TensorMeta* input = tensor_argument(graph, node, 0);
    // Statistics run over everything but the batch or the channels; the smaller of the two leading sizes is safe.
    if (!input || input->sizes.empty()) return 1;
    if (is("layer_norm", "native_layer_norm", "rms_norm")) return last_size(input);
    return input->numel() / std::max<std::int64_t>(1, input->sizes.size() > 1 ? input->sizes[1] : 1);
  }
  // Whatever gives fewer elements than it reads sums, or picks among, the difference.
  return largest_input_numel(graph, node) / std::max<std::int64_t>(1, output_numel(graph, node));
}

}  // namespace

std::int64_t longest_reduction(const OpGraph& graph) {
  std::int64_t longest = 1;
  for (const Node& node : graph.nodes) longest = std::max(longest, reduction_of(graph, node));
  return longest;
}

}  // namespace cudal1
