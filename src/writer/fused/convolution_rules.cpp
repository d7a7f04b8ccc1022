#include <algorithm>

#include "graph/operator_name.hpp"
#include "writer/fused/convolution_arguments.hpp"
#include "writer/fused/window_rules.hpp"

namespace cudal1 {
namespace {

constexpr auto real = ScalarKind::real;

//! Everything about a convolution but the places of its elements.
struct Convolution {
  ValueId input, weight;
  WindowSizes sizes;
  std::int64_t groups;
  std::int64_t inputs_a_group, outputs_a_group;
  Affine channel;          //!< of the result
  Affine group, in_group;  //!< group of the channel, and which it is there
  Affine loop;             //!< through the channels of the input that belong to the group
  std::vector<WindowDim> windows;
  Point at_input, at_weight;  //!< what is known of these so far: batch and channels
};

//! An output channel as one of [groups, channels of a group].
void find_group(const RuleCall& call, Convolution& made) {
  made.channel = call.point[1];
  if (made.groups == 1) {
    made.in_group = made.channel;
  } else if (made.outputs_a_group == 1) {
    made.group = made.channel;
  } else {
    const std::int64_t count = made.outputs_a_group;
    const TensorMeta flat{DType::f32, {made.groups * count}, {1}};
    const TensorMeta grouped{DType::f32, {made.groups, count}, {count, 1}};
    const auto point = call.lowering.regrouped({made.channel}, flat, grouped);
    if (!point) call.lowering.refuse(call.node, "has groups that no loop can follow");
    made.group = (*point)[0];
    made.in_group = (*point)[1];
  }
}

//! The loop through the input channels of a group.
void add_channels(const RuleCall& call, Convolution& made) {
  WindowDim channels;
  std::vector<int> loops;
  made.loop = call.lowering.loop(made.inputs_a_group, loops);
  if (!loops.empty()) channels.loop = loops.front();
  channels.index = made.loop;
  channels.index.add(made.group, made.inputs_a_group);
  channels.size = meta_of(call, made.input).sizes[1];
  made.at_input = {call.point[0], channels.index};
  made.windows.push_back(channels);
}

Convolution convolution_of(const RuleCall& call) {
  Convolution made;
  made.input = tensor(call, 0, "input");
  made.weight = tensor(call, 1, "weight");
  const Numbers& filter = meta_of(call, made.weight).sizes;
  if (call.result_kind() != real) call.lowering.refuse(call.node, "convolves integers");
  if (filter.size() < 3 || filter.size() != call.point.size()) call.lowering.refuse(call.node, "has no batch");
  made.sizes.kernel = Numbers(filter.begin() + 2, filter.end());
  const std::size_t count = made.sizes.kernel.size();
  made.sizes.stride = numbers(call.node, 3, "stride", count, all(1, count));
  made.sizes.dilation = dilation_of_convolution(call.node, count);
  made.sizes.padding = padding_of_convolution(call.node, made.sizes.kernel, made.sizes.dilation);
  made.groups = groups_of_convolution(call.node);
  made.inputs_a_group = meta_of(call, made.input).sizes[1] / made.groups;
  made.outputs_a_group = call.value.meta.sizes[1] / made.groups;
  find_group(call, made);
  add_channels(call, made);
  return made;
}

int sum_of(const RuleCall& call, const Convolution& made) {
  Lowering& lowering = call.lowering;
  const int product = lowering.map(real, "{0} * {1}",
                                   {lowering.as(real, lowering.value_at(made.input, made.at_input)),
                                    lowering.as(real, lowering.value_at(made.weight, made.at_weight))});
  return lowering.reduce_windows(real, "cudal1::Sum<float>", {product}, made.windows, call.value.meta.numel());
}

int biased(const RuleCall& call, int sum, const Affine& channel) {
  Lowering& lowering = call.lowering;
  if (!call.has(2, "bias")) return sum;
  const int bias = lowering.as(real, lowering.value_at(tensor(call, 2, "bias"), {channel}));
  return lowering.map(real, "{0} + {1}", {sum, bias});
}

int result_of(const RuleCall& call, const Convolution& made) { return biased(call, sum_of(call, made), made.channel); }

//! weight: [outputs, inputs of a group, …]
int forward(const RuleCall& call) {
  Convolution made = convolution_of(call);
  made.at_weight = {made.channel, made.loop};
  for (const WindowDim& dim : windowed(call, made.input, made.sizes).windows) {
    Affine inside;
    if (dim.loop >= 0) inside.add(dim.loop, 1);
    made.at_input.push_back(dim.index);
    made.at_weight.push_back(inside);
    made.windows.push_back(dim);
  }
  return result_of(call, made);
}

// Output o is made of those inputs i and places k of the filter for which stride · i - padding + dilation · k = o. With
// o + padding = stride · quotient + remainder these are, for t = 0, 1, …, i = quotient - t and
// k = remainder + stride · t. Loops run through t backwards, so that i ascends.

//! Without steps, i is a sum of o and k, and nothing must be divided.
void add_dense(const RuleCall& call, Convolution& made, std::size_t dim) {
  const std::int64_t kernel = made.sizes.kernel[dim], dilation = made.sizes.dilation[dim];
  const WindowSizes flipped{{kernel}, {1}, {dilation * (kernel - 1) - made.sizes.padding[dim]}, {dilation}};
  WindowDim window = cudal1::window(call, call.point[2 + dim], call.value.meta.sizes[2 + dim],
                                    meta_of(call, made.input).sizes[2 + dim], flipped, 0);
  window.may_leave = true;
  Affine place{kernel - 1, {}};
  if (window.loop >= 0) place.add(window.loop, -1);
  made.at_input.push_back(window.index);
  made.at_weight.push_back(place);
  made.windows.push_back(window);
}

void add_stepped(const RuleCall& call, Convolution& made, std::size_t dim) {
  const std::int64_t kernel = made.sizes.kernel[dim], stride = made.sizes.stride[dim];
  const std::int64_t last = (kernel + stride - 1) / stride - 1;  // t
  WindowDim window;
  window.size = meta_of(call, made.input).sizes[2 + dim];
  window.may_leave = true;
  std::vector<int> loops, parts;
  const Affine back = call.lowering.loop(last + 1, loops);
  if (!loops.empty()) window.loop = loops.front();
  window.divided = call.point[2 + dim];
  window.divided.offset += made.sizes.padding[dim];
  window.divisor = stride;
  const std::int64_t largest = call.value.meta.sizes[2 + dim] - 1 + made.sizes.padding[dim];
  window.index = call.lowering.loop(largest / stride + 2, parts);  // never one: there must be an atom
  Affine place = call.lowering.loop(stride, parts);
  window.quotient = parts[0];
  window.remainder = parts[1];
  window.index.add(back, 1);
  window.index.offset -= last;
  place.add(back, -stride);
  place.offset += stride * last;
  made.at_input.push_back(window.index);
  made.at_weight.push_back(place);
  made.windows.push_back(window);
  if (kernel % stride == 0) return;
  WindowDim ends;
  ends.index = place;
  ends.size = kernel;
  ends.may_leave = true;
  made.windows.push_back(ends);
}

//! weight: [inputs, outputs of a group, …]
int transposed(const RuleCall& call) {
  Convolution made = convolution_of(call);
  Affine channel = made.loop;
  channel.add(made.group, made.inputs_a_group);
  made.at_weight = {channel, made.in_group};
  for (std::size_t dim = 0; dim < made.sizes.kernel.size(); ++dim) {
    const bool steps = made.sizes.stride[dim] > 1;
    if (steps && made.sizes.dilation[dim] > 1) call.lowering.refuse(call.node, "has both steps and dilation");
    (steps ? add_stepped : add_dense)(call, made, dim);
  }
  return result_of(call, made);
}

//! The sums were computed by other means; the bias is added here.
int kept(const RuleCall& call) {
  return biased(call, call.lowering.kept_product(call.node.outputs.front(), call.point), call.point[1]);
}

int convolution(const RuleCall& call) {
  if (call.lowering.keeps_products()) return kept(call);
  return is_transposed_convolution(call.node) ? transposed(call) : forward(call);
}

}  // namespace

std::int64_t channels_of_a_group(const OpGraph& graph, const Node& node) {
  const auto* weight = argument_as<ValueRef>(node, 1, "weight");
  if (!is_direct_convolution(node) || weight == nullptr || weight->id < 0) return 0;
  const Numbers& sizes = graph.values[weight->id].meta.sizes;
  if (sizes.size() < 3) return 0;
  return is_transposed_convolution(node) ? sizes[0] / groups_of_convolution(node) : sizes[1];
}

void add_convolution_rules(OperatorRules& rules) {
  for (const char* name :
       {"conv1d", "conv2d", "conv3d", "convolution", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d"})
    rules.emplace(name, convolution);
}

}  // namespace cudal1
