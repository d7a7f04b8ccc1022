#include "judge/oracle_convolutions.hpp"

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <utility>

#include "base/seconds_since.hpp"
#include "graph/aten_call.hpp"
#include "graph/operator_name.hpp"
#include "judge/convolution_walk.hpp"
#include "judge/same_numbers.hpp"

namespace cudal1 {
namespace {

constexpr int spread_elements = 64;
constexpr double least_tolerance = 1e-12;  // of sums of |products|

bool is_convolution(const Node& node) {
  constexpr std::array<std::string_view, 7> names{
      "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "convolution"};
  return std::ranges::find(names, base_name(node.op)) != names.end();
}

//! One number may stand for all dimensions; `otherwise` where the operator has no such argument.
std::vector<std::int64_t> list_of(const AtenCall& call, std::string_view argument, std::int64_t dimensions,
                                  std::int64_t otherwise) {
  const std::vector<std::int64_t> given = call.integers_of(argument);
  const auto count = static_cast<std::size_t>(std::max<std::int64_t>(dimensions, 0));
  if (given.empty()) return std::vector<std::int64_t>(count, otherwise);
  return given.size() == 1 ? std::vector<std::int64_t>(count, given[0]) : given;
}

std::int64_t integer_of(const AtenCall& call, std::string_view argument, std::int64_t otherwise) {
  const std::vector<std::int64_t> given = call.integers_of(argument);
  return given.empty() ? otherwise : given[0];
}

at::Tensor tensor_of(const AtenCall& call, std::string_view argument, const TensorTable& values) {
  const std::vector<ValueId> ids = call.values_of(argument);
  return ids.empty() || ids[0] < 0 ? at::Tensor() : values[static_cast<std::size_t>(ids[0])];
}

//! Nothing where the padding is a word.
std::optional<Convolution> convolution_of(const Node& node, const AtenCall& call, const TensorTable& values) {
  if (!is_convolution(node) || call.integers_of("padding").empty()) return std::nullopt;
  Convolution convolution;
  convolution.input = tensor_of(call, "input", values);
  convolution.weight = tensor_of(call, "weight", values);
  convolution.bias = tensor_of(call, "bias", values);
  if (!convolution.input.defined() || !convolution.weight.defined()) return std::nullopt;
  const std::int64_t dimensions = convolution.input.dim() - 2;
  convolution.stride = list_of(call, "stride", dimensions, 1);
  convolution.padding = list_of(call, "padding", dimensions, 0);
  convolution.dilation = list_of(call, "dilation", dimensions, 1);
  convolution.output_padding = list_of(call, "output_padding", dimensions, 0);
  convolution.groups = integer_of(call, "groups", 1);
  convolution.transposed = base_name(node.op).starts_with("conv_transpose") || integer_of(call, "transposed", 0) != 0;
  // Only transposed convolutions have one, though the operator for both takes it.
  if (!convolution.transposed) std::ranges::fill(convolution.output_padding, 0);
  return convolution;
}

//! Every corner, and some in between.
std::vector<std::int64_t> elements_to_check(at::IntArrayRef sizes) {
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) count *= size;
  std::vector<std::int64_t> elements;
  for (std::uint32_t corner = 0; corner < 1u << sizes.size(); ++corner) {
    std::int64_t index = 0;
    for (std::size_t d = 0; d < sizes.size(); ++d) index = index * sizes[d] + ((corner >> d & 1) ? sizes[d] - 1 : 0);
    elements.push_back(index);
  }
  // By the golden ratio, which falls into step with no size.
  constexpr double golden = 0.6180339887498949;
  for (int i = 1; i <= spread_elements; ++i) {
    const double share = golden * i - std::floor(golden * i);
    elements.push_back(std::min(static_cast<std::int64_t>(share * static_cast<double>(count)), count - 1));
  }
  return elements;
}

//! A sum of many equal products is rounded the same way at many steps.
double tolerance_of(const Convolution& convolution) {
  const auto terms = static_cast<double>(convolution.inputs_of_a_group() * convolution.taps());
  return std::max(least_tolerance, terms * 0x1.0p-52);
}

//! The same number, infinity or NaN, or finite numbers that differ by no more than that.
bool is_close(const at::Tensor& found, const at::Tensor& wanted, const at::Tensor& allowed) {
  const at::Tensor same = same_numbers(found, wanted);
  const at::Tensor finite = found.isfinite().logical_and(wanted.isfinite());
  return same.logical_or(finite.logical_and((found - wanted).abs().le(allowed))).all().item<bool>();
}

//! Closely, by what is multiplied and added there.
bool is_right_where_gathered(const Convolution& convolution, const at::Tensor& result) {
  const std::vector<std::int64_t> elements = elements_to_check(result.sizes());
  const ConvolvedElements wanted = convolved_elements(convolution, elements);
  const at::Tensor found = result.flatten().index({at::tensor(elements, at::kLong).to(result.device())});
  return is_close(found, wanted.values, wanted.sizes * tolerance_of(convolution));
}

//! For each channel of the result, what no sum of |products| exceeds: all its weights times the largest input.
at::Tensor largest_sums(const Convolution& of) {
  const std::int64_t inputs = of.inputs_of_a_group(), outputs = of.outputs_of_a_group();
  const at::Tensor weights = of.weight.abs();
  const at::Tensor by_channel = of.transposed ? weights.reshape({of.groups, inputs, outputs, -1}).sum({1, 3}).flatten()
                                              : weights.flatten(1).sum(1);
  const at::Tensor largest = of.input.abs().masked_fill(of.input.isfinite().logical_not(), 0.0).max();
  const at::Tensor sums = by_channel * largest;
  return of.bias.defined() ? sums + of.bias.abs() : sums;
}

//! Everywhere, if less closely; and whatever this file has misread, since the operator reads the node by itself.
bool is_like_the_operators(const Convolution& convolution, const at::Tensor& result, const at::Tensor& wanted) {
  if (!result.sizes().equals(wanted.sizes())) return false;
  std::vector<std::int64_t> along_channels(static_cast<std::size_t>(result.dim()), 1);
  along_channels[1] = -1;
  return is_close(result, wanted, largest_sums(convolution).view(along_channels) * tolerance_of(convolution));
}

//! The oracle's results have the strides of the task's own, which views of them count on.
at::Tensor with_strides_of(const TensorMeta& meta, const at::Tensor& result) {
  if (!result.sizes().equals(meta.sizes) || meta.strides.size() != meta.sizes.size() ||
      result.strides().equals(meta.strides) || meta.is_contiguous())
    return result;
  return at::empty_strided(meta.sizes, meta.strides, result.options()).copy_(result);
}

//! Until everything that it is made of is done.
void wait_for(const at::Tensor& tensor) {
  if (tensor.numel() > 0) (void)tensor.as_strided({}, {}).item<double>();
}

std::shared_ptr<WalkDevice> walk_device_under(const at::Tensor& tensor) {
  return tensor.is_cuda() ? walk_device_of(tensor.device().index()) : nullptr;
}

}  // namespace

OracleConvolutions::OracleConvolutions(const OpGraph& graph, DeviceOf device_of, Choice choice)
    : graph_(graph), device_of_(std::move(device_of)), choice_(choice) {}

std::optional<std::vector<at::Tensor>> OracleConvolutions::operator()(const Node& node, const AtenCall& call,
                                                                      const TensorTable& values) {
  const std::optional<Convolution> convolution = convolution_of(node, call, values);
  if (!convolution || distrusted_.contains(node.name) || slow_.contains(node.name)) return std::nullopt;
  const std::shared_ptr<WalkDevice> device = device_of_(convolution->input);
  if (!device || !can_walk(*convolution)) return std::nullopt;
  if (choice_ == Choice::the_faster && trusted_.contains(node.name) && compared_.insert(node.name).second)
    return second_results(node, call, values, *convolution, *device);
  const at::Tensor result = convolved(*device, *convolution);
  if (result.numel() > 0 && !trusted_.contains(node.name))
    return first_results(node, call, values, *convolution, result);
  return as_the_graph_says(node, result);
}

std::vector<at::Tensor> OracleConvolutions::as_the_graph_says(const Node& node, const at::Tensor& result) const {
  return {with_strides_of(graph_.values[static_cast<std::size_t>(node.outputs.at(0))].meta, result)};
}

//! Nothing has to be loaded any more for either.
std::vector<at::Tensor> OracleConvolutions::second_results(const Node& node, const AtenCall& call,
                                                           const TensorTable& values, const Convolution& convolution,
                                                           WalkDevice& device) {
  wait_for(convolution.input);
  const auto begin = std::chrono::steady_clock::now();
  const at::Tensor walked = convolved(device, convolution);
  wait_for(walked);
  const double walk_seconds = seconds_since(begin);
  const auto begin_of_operator = std::chrono::steady_clock::now();
  wait_for(call([&](ValueId id) -> const at::Tensor& { return values[static_cast<std::size_t>(id)]; }).at(0));
  if (seconds_since(begin_of_operator) < walk_seconds) slow_.insert(node.name);
  return as_the_graph_says(node, walked);
}

//! The operator's own: it has to compute them anyway.
std::vector<at::Tensor> OracleConvolutions::first_results(const Node& node, const AtenCall& call,
                                                          const TensorTable& values, const Convolution& convolution,
                                                          const at::Tensor& found) {
  std::vector<at::Tensor> results =
      call([&](ValueId id) -> const at::Tensor& { return values[static_cast<std::size_t>(id)]; });
  if (is_like_the_operators(convolution, found, results.at(0)) && is_right_where_gathered(convolution, found)) {
    trusted_.insert(node.name);
  } else {
    distrusted_.insert(node.name);
    fmt::print(stderr, "cudal1: node {} ({}): the oracle's own convolution is wrong here, so PyTorch computes it\n",
               node.name, node.op);
  }
  return results;
}

Substitute OracleConvolutions::substitute_for(const OpGraph& graph) {
  const auto convolutions =
      std::make_shared<OracleConvolutions>(graph, walk_device_under, OracleConvolutions::Choice::the_faster);
  return [convolutions](const Node& node, const AtenCall& call, const TensorTable& values) {
    return (*convolutions)(node, call, values);
  };
}

}  // namespace cudal1
