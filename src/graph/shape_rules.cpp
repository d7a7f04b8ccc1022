#include "graph/shape_rules.hpp"

#include <ATen/ops/empty.h>
#include <c10/core/MemoryFormat.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>

#include "base/result.hpp"
#include "graph/operator_name.hpp"

namespace cudal1 {
namespace {

using Lookup = std::function<const at::Tensor&(ValueId)>;

[[noreturn]] void fail(const Node& node, const std::string& message) {
  throw Error(fmt::format("node {} ({}): {}", node.name, node.op, message));
}

//! The value of a list such as `stride` for one spatial dimension; a list of one stands for all.
std::int64_t element(const std::vector<std::int64_t>& list, std::size_t index, std::int64_t otherwise) {
  if (list.empty()) return otherwise;
  return list.size() == 1 ? list.front() : list.at(std::min(index, list.size() - 1));
}

//! As cuDNN and oneDNN choose it: channels last if one of the operands is.
at::MemoryFormat convolution_format(const at::Tensor& input, const at::Tensor& weight) {
  const at::MemoryFormat of_input = input.suggest_memory_format();
  return of_input == at::MemoryFormat::Contiguous ? weight.suggest_memory_format() : of_input;
}

at::Tensor empty_meta(const std::vector<std::int64_t>& sizes, at::ScalarType dtype, at::MemoryFormat format) {
  return at::empty(sizes, at::TensorOptions().device(at::kMeta).dtype(dtype), format);
}

struct ConvolutionArguments {
  std::vector<std::int64_t> stride, padding, dilation, output_padding;
  std::int64_t groups = 1;
  bool transposed = false;
};

ConvolutionArguments convolution_arguments(const Node& node, const AtenCall& call) {
  ConvolutionArguments arguments{call.integers_of("stride"), call.integers_of("padding"), call.integers_of("dilation"),
                                 call.integers_of("output_padding")};
  arguments.groups = element(call.integers_of("groups"), 0, 1);
  arguments.transposed =
      base_name(node.op).starts_with("conv_transpose") || element(call.integers_of("transposed"), 0, 0);
  return arguments;
}

std::int64_t convolved_size(const ConvolutionArguments& arguments, std::size_t d, std::int64_t size,
                            std::int64_t kernel) {
  const std::int64_t stride = element(arguments.stride, d, 1);
  const std::int64_t padding = element(arguments.padding, d, 0);
  const std::int64_t reach = element(arguments.dilation, d, 1) * (kernel - 1);
  if (arguments.transposed)
    return (size - 1) * stride - 2 * padding + reach + element(arguments.output_padding, d, 0) + 1;
  return stride <= 0 ? 0 : (size + 2 * padding - reach - 1) / stride + 1;
}

std::vector<at::Tensor> convolution_outputs(const Node& node, const AtenCall& call, const Lookup& lookup) {
  const at::Tensor& input = lookup(call.values_of("input").at(0));    // (N, C, spatial…)
  const at::Tensor& weight = lookup(call.values_of("weight").at(0));  // (C_out, C / groups, spatial…)
  const ConvolutionArguments arguments = convolution_arguments(node, call);
  if (input.dim() != weight.dim() || input.dim() < 3)
    fail(node, fmt::format("an input of {} dimensions for a weight of {}", input.dim(), weight.dim()));
  const std::int64_t channels = arguments.transposed ? weight.size(0) : weight.size(1) * arguments.groups;
  if (input.size(1) != channels)
    fail(node, fmt::format("the input has {} channels, the weight is for {}", input.size(1), channels));
  std::vector<std::int64_t> sizes{input.size(0),
                                  arguments.transposed ? weight.size(1) * arguments.groups : weight.size(0)};
  for (std::int64_t d = 2; d < input.dim(); ++d) {
    sizes.push_back(convolved_size(arguments, static_cast<std::size_t>(d - 2), input.size(d), weight.size(d)));
    if (sizes.back() <= 0) fail(node, "the kernel is larger than the padded input");
  }
  return {empty_meta(sizes, input.scalar_type(), convolution_format(input, weight))};
}

std::vector<at::Tensor> batch_norm_outputs(const Node& node, const AtenCall& call, const Lookup& lookup) {
  const at::Tensor& input = lookup(call.values_of("input").at(0));  // (N, C, …)
  if (input.dim() < 2) fail(node, "the input needs at least two dimensions");
  const std::int64_t channels = input.size(1);
  for (const char* name : {"weight", "bias", "running_mean", "running_var"})
    for (const ValueId id : call.values_of(name))
      if (lookup(id).numel() != channels)
        fail(node, fmt::format("{} has {} elements for {} channels", name, lookup(id).numel(), channels));
  const at::Tensor normalized = empty_meta(input.sizes().vec(), input.scalar_type(), input.suggest_memory_format());
  if (base_name(node.op) == "batch_norm") return {normalized};
  const bool training = element(call.integers_of("training"), 0, 0) != 0;
  const at::ScalarType statistic = input.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  const auto saved = [&] { return empty_meta({training ? channels : 0}, statistic, at::MemoryFormat::Contiguous); };
  return {normalized, saved(), saved()};
}

//! What weight and bias of a normalisation have as many elements as.
std::int64_t normalized_elements(const Node& node, const AtenCall& call, const at::Tensor& input) {
  if (base_name(node.op) != "layer_norm") {
    if (input.dim() < 2) fail(node, "the input needs at least two dimensions");
    const std::int64_t groups = element(call.integers_of("num_groups"), 0, 1);
    if (groups <= 0 || input.size(1) % groups != 0)
      fail(node, fmt::format("{} channels cannot be divided into {} groups", input.size(1), groups));
    return input.size(1);
  }
  const std::vector<std::int64_t> shape = call.integers_of("normalized_shape");
  const auto sizes = input.sizes();
  if (shape.empty() || shape.size() > sizes.size() || !std::equal(shape.rbegin(), shape.rend(), sizes.rbegin()))
    fail(node, fmt::format("normalizes the last {} dimensions, which have other sizes", shape.size()));
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

//! Those that normalise each example for itself. Their results are contiguous, unless one on a CPU keeps channels last.
std::optional<std::vector<at::Tensor>> norm_outputs(const Node& node, const AtenCall& call, const Lookup& lookup) {
  const at::Tensor& input = lookup(call.values_of("input").at(0));
  if (!input.is_contiguous()) return std::nullopt;
  const std::int64_t elements = normalized_elements(node, call, input);
  for (const char* name : {"weight", "bias"})
    for (const ValueId id : call.values_of(name))
      if (lookup(id).numel() != elements)
        fail(node, fmt::format("{} has {} elements, not {}", name, lookup(id).numel(), elements));
  return std::vector{empty_meta(input.sizes().vec(), input.scalar_type(), at::MemoryFormat::Contiguous)};
}

bool has_integer_padding(const AtenCall& call) { return !call.integers_of("padding").empty(); }

}  // namespace

std::optional<std::vector<at::Tensor>> outputs_by_rule(const Node& node, const AtenCall& call, const Lookup& lookup) {
  constexpr std::array<std::string_view, 7> convolutions{
      "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "convolution"};
  constexpr std::array<std::string_view, 3> batch_norms{"batch_norm", "native_batch_norm", "_native_batch_norm_legit"};
  constexpr std::array<std::string_view, 3> other_norms{"layer_norm", "group_norm", "instance_norm"};
  const std::string name(base_name(node.op));
  if (std::ranges::find(convolutions, name) != convolutions.end() && has_integer_padding(call))
    return convolution_outputs(node, call, lookup);
  if (std::ranges::find(batch_norms, name) != batch_norms.end()) return batch_norm_outputs(node, call, lookup);
  if (std::ranges::find(other_norms, name) != other_norms.end()) return norm_outputs(node, call, lookup);
  return std::nullopt;
}

}  // namespace cudal1
