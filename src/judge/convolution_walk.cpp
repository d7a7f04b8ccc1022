#include "judge/convolution_walk.hpp"

#include <ATen/Functions.h>
#include <ATen/TensorIndexing.h>
#include <ATen/TensorOperators.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <iterator>
#include <numeric>

#include "judge/walk_kernels.hpp"

namespace cudal1 {
namespace {

using walk_kernels::ConvolutionAxis, walk_kernels::ConvolutionShape;

// The kernel adds two such numbers in 32 bits.
constexpr std::int64_t most_counted = std::int64_t{1} << 29;

std::int64_t divided_up(std::int64_t count, std::int64_t by) { return (count + by - 1) / by; }

std::size_t spatial_dimensions(const Convolution& convolution) {
  return static_cast<std::size_t>(convolution.input.dim()) - 2;
}

//! How many taps reach beyond the first.
std::int64_t reach(const Convolution& convolution, std::size_t d) {
  return convolution.dilation[d] * (convolution.weight.size(static_cast<std::int64_t>(d) + 2) - 1);
}

bool operands_fit(const Convolution& of) {
  if (of.input.dim() != of.weight.dim() || of.input.dim() < 3 || of.input.dim() > 5) return false;
  const std::int64_t split = of.weight.size(0);
  if (of.groups < 1 || split == 0 || split % of.groups != 0 || of.weight.numel() == 0) return false;
  for (const at::Tensor* tensor : {&of.input, &of.weight, &of.bias})
    if (tensor->defined() && (tensor->scalar_type() != at::kDouble || tensor->device() != of.input.device()))
      return false;
  return of.input.size(1) == of.inputs_of_a_group() * of.groups &&
         (!of.bias.defined() || of.bias.sizes().equals({of.outputs_of_a_group() * of.groups}));
}

bool axis_fits(const Convolution& of, std::size_t d) {
  const std::int64_t inputs = of.input.size(static_cast<std::int64_t>(d) + 2), outputs = of.result_sizes()[d + 2];
  const std::int64_t stride = of.stride[d], padding = of.padding[d], more = of.output_padding[d];
  const bool is_known = stride >= 1 && of.dilation[d] >= 1 && padding >= 0 && more >= 0;
  const bool pads_as_allowed = more == 0 || (of.transposed && more < std::max(stride, of.dilation[d]));
  // Only a factor of the other: no product here is beyond 64 bits.
  for (const std::int64_t number : {inputs, outputs, stride, padding, of.dilation[d], reach(of, d)})
    if (number >= most_counted) return false;
  return is_known && pads_as_allowed && inputs >= 1 && outputs >= 1 && (outputs + stride) * stride < most_counted &&
         of.dilation[d] * stride < most_counted;
}

bool is_one_for_each(const Convolution& of, const std::vector<std::int64_t>& list) {
  return list.size() == spatial_dimensions(of);
}

ConvolutionAxis axis_of(const Convolution& of, std::size_t d) {
  const auto dimension = static_cast<std::int64_t>(d) + 2;
  ConvolutionAxis axis;
  axis.inputs = of.input.size(dimension);
  axis.outputs = of.result_sizes()[d + 2];
  axis.taps = of.weight.size(dimension);
  if (of.transposed) {
    axis.phases = of.stride[d];
    axis.shift = of.padding[d];
    axis.dilation = of.dilation[d];
    axis.period = of.stride[d] / std::gcd(of.stride[d], of.dilation[d]);
  } else {
    axis.stride = of.stride[d];
    axis.shift = -of.padding[d];
    axis.dilation = -of.dilation[d];
  }
  return axis;
}

//! Of output channels that a thread has, the fewest that take up all of a small group.
int channels_for(std::int64_t outputs_of_a_group) {
  const auto& counts = walk_kernels::channels_of_a_thread;
  const auto found = std::ranges::find_if(counts, [&](int count) { return count >= outputs_of_a_group; });
  return found == counts.end() ? counts.back() : *found;
}

//! Blocks of channels that threads of one block compute from the same inputs. No thread may be without one.
std::int64_t blocks_side_by_side(std::int64_t channel_blocks) {
  return channel_blocks % 4 == 0 ? 4 : channel_blocks % 2 == 0 ? 2 : 1;
}

ConvolutionShape shape_of(const Convolution& of, int channels) {
  ConvolutionShape shape;
  shape.images = of.input.size(0);
  shape.groups = of.groups;
  shape.inputs = of.inputs_of_a_group();
  shape.outputs = of.outputs_of_a_group();
  shape.blocks_side_by_side = blocks_side_by_side(divided_up(shape.outputs, channels));
  // 32 or 64 KiB of inputs for the positions of a block of threads: those of two blocks fit into L1. A single tap never
  // reads one again.
  shape.inputs_at_once = of.taps() == 1 ? shape.inputs : std::max<std::int64_t>(8, 4 * shape.blocks_side_by_side);
  const std::size_t count = spatial_dimensions(of);
  for (std::size_t d = 0; d < count; ++d) shape.axes[3 - count + d] = axis_of(of, d);
  return shape;
}

double phases_of(const ConvolutionShape& shape) {
  double phases = 1.0;
  for (const ConvolutionAxis& axis : shape.axes) phases *= static_cast<double>(axis.phases);
  return phases;
}

double positions_of_a_phase(const ConvolutionShape& shape) {
  auto positions = static_cast<double>(shape.images);
  for (const ConvolutionAxis& axis : shape.axes)
    positions *= static_cast<double>(divided_up(axis.outputs, axis.phases));
  return positions;
}

//! Of work for a block of threads, as many as it takes. A floating number cannot overflow.
double units_of(const ConvolutionShape& shape, int channels) {
  const double positions = walk_kernels::positions_of_a_thread * walk_kernels::threads_of_a_block /
                           static_cast<double>(shape.blocks_side_by_side);
  const double channel_tiles =
      static_cast<double>(divided_up(shape.outputs, channels)) / static_cast<double>(shape.blocks_side_by_side);
  return std::ceil(positions_of_a_phase(shape) / positions) * phases_of(shape) * static_cast<double>(shape.groups) *
         channel_tiles;
}

bool is_counted_in_32_bits(const ConvolutionShape& shape, int channels) {
  double inputs = 1.0, outputs = 1.0;
  for (const ConvolutionAxis& axis : shape.axes) {
    inputs *= static_cast<double>(axis.inputs);
    outputs *= static_cast<double>(axis.outputs);
  }
  return std::max({positions_of_a_phase(shape), phases_of(shape), inputs, outputs, units_of(shape, channels)}) <
         static_cast<double>(most_counted);
}

//! (group, block, tap, input channel, channel of the block), 0 for channels that fill up the last block.
at::Tensor repacked_weights(const Convolution& of, int channels) {
  const std::int64_t inputs = of.inputs_of_a_group(), outputs = of.outputs_of_a_group(), taps = of.taps();
  const std::int64_t blocks = divided_up(outputs, channels);
  at::Tensor weights = of.transposed ? of.weight.reshape({of.groups, inputs, outputs, taps}).transpose(1, 2)
                                     : of.weight.reshape({of.groups, outputs, inputs, taps});
  weights = at::constant_pad_nd(weights, {0, 0, 0, 0, 0, blocks * channels - outputs});
  return weights.reshape({of.groups, blocks, channels, inputs, taps}).permute({0, 1, 4, 3, 2}).contiguous();
}

WalkArgument read(const at::Tensor& tensor) {
  if (!tensor.defined()) return {};
  return {reinterpret_cast<std::uint64_t>(tensor.const_data_ptr<double>()), tensor.nbytes()};
}

WalkArgument written(const at::Tensor& tensor) {
  return {reinterpret_cast<std::uint64_t>(tensor.mutable_data_ptr<double>()), tensor.nbytes(), true};
}

//! The words of a structure that has nothing else.
std::vector<WalkArgument> words_of(const ConvolutionShape& shape) {
  std::array<std::uint64_t, sizeof(ConvolutionShape) / 8> words{};
  std::memcpy(words.data(), &shape, sizeof(shape));
  std::vector<WalkArgument> arguments;
  for (const std::uint64_t word : words) arguments.push_back({word});
  return arguments;
}

}  // namespace

std::vector<std::int64_t> Convolution::result_sizes() const {
  std::vector<std::int64_t> sizes{input.size(0), groups * outputs_of_a_group()};
  for (std::size_t d = 0; d < spatial_dimensions(*this); ++d) {
    const std::int64_t inputs = input.size(static_cast<std::int64_t>(d) + 2), within = reach(*this, d) + 1;
    sizes.push_back(transposed ? (inputs - 1) * stride[d] - 2 * padding[d] + within + output_padding[d]
                               : divided_up(inputs + 2 * padding[d] - within + 1, stride[d]));
  }
  return sizes;
}

bool can_walk(const Convolution& of) {
  if (!operands_fit(of)) return false;
  for (const auto* list : {&of.stride, &of.padding, &of.dilation, &of.output_padding})
    if (!is_one_for_each(of, *list)) return false;
  if (std::ranges::any_of(of.stride, [](std::int64_t stride) { return stride < 1; })) return false;
  for (std::size_t d = 0; d < spatial_dimensions(of); ++d)
    if (!axis_fits(of, d)) return false;
  const int channels = channels_for(of.outputs_of_a_group());
  return is_counted_in_32_bits(shape_of(of, channels), channels) && of.weight.isfinite().all().item<bool>();
}

at::Tensor convolved(WalkDevice& device, const Convolution& of) {
  const at::Tensor result = at::empty(of.result_sizes(), of.input.options(), at::MemoryFormat::Contiguous);
  if (result.numel() == 0) return result;
  const int channels = channels_for(of.outputs_of_a_group());
  const at::Tensor input = of.input.contiguous(), weights = repacked_weights(of, channels);
  const at::Tensor bias = of.bias.defined() ? of.bias.contiguous() : of.bias;
  const ConvolutionShape shape = shape_of(of, channels);
  std::vector<WalkArgument> arguments = {read(input), read(weights), read(bias), written(result)};
  std::ranges::copy(words_of(shape), std::back_inserter(arguments));
  const double blocks = std::min<double>(units_of(shape, channels), device.most_blocks());
  device.launch(walk_kernels::convolution_for(channels), static_cast<std::uint32_t>(blocks), arguments);
  return result;
}

namespace {

//! The input that meets this tap at this output; -1 where there is none.
std::int64_t input_at(const Convolution& of, std::size_t d, std::int64_t output, std::int64_t tap) {
  const std::int64_t inputs = of.input.size(static_cast<std::int64_t>(d) + 2);
  std::int64_t input = output * of.stride[d] - of.padding[d] + tap * of.dilation[d];
  if (of.transposed) {
    const std::int64_t strides = output + of.padding[d] - tap * of.dilation[d];
    input = strides % of.stride[d] == 0 ? strides / of.stride[d] : -1;
  }
  return input < inputs ? std::max<std::int64_t>(input, -1) : -1;
}

//! The digits of an index, in a number system with these sizes.
std::vector<std::int64_t> coordinates_of(std::int64_t index, at::IntArrayRef sizes) {
  std::vector<std::int64_t> coordinates(sizes.size());
  for (std::size_t d = sizes.size(); d-- > 0; index /= sizes[d]) coordinates[d] = index % sizes[d];
  return coordinates;
}

//! By place in a channel of the input; -1 where there is none.
std::int64_t input_place(const Convolution& of, const std::vector<std::int64_t>& output,
                         const std::vector<std::int64_t>& tap) {
  std::int64_t place = 0;
  for (std::size_t d = 0; d < tap.size(); ++d) {
    const std::int64_t input = input_at(of, d, output[d + 2], tap[d]);
    if (input < 0) return -1;
    place = place * of.input.size(static_cast<std::int64_t>(d) + 2) + input;
  }
  return place;
}

}  // namespace

ConvolvedElements convolved_elements(const Convolution& of, const std::vector<std::int64_t>& indices) {
  const auto count = static_cast<std::int64_t>(indices.size());
  const std::vector<std::int64_t> sizes = of.result_sizes();
  std::vector<std::int64_t> image, channel, places;
  for (const std::int64_t index : indices) {
    const std::vector<std::int64_t> output = coordinates_of(index, sizes);
    image.push_back(output[0]);
    channel.push_back(output[1]);
    for (std::int64_t tap = 0; tap < of.taps(); ++tap)
      places.push_back(input_place(of, output, coordinates_of(tap, of.weight.sizes().slice(2))));
  }
  const auto there = [&](const std::vector<std::int64_t>& numbers, at::IntArrayRef shape) {
    return at::tensor(numbers, at::kLong).view(shape).to(of.input.device());
  };
  using at::indexing::Slice;
  const at::Tensor images = there(image, {count, 1, 1}), channels = there(channel, {count, 1}),
                   place = there(places, {count, 1, of.taps()});
  const at::Tensor of_group = at::arange(of.inputs_of_a_group(), images.options()).view({1, -1});
  const at::Tensor input_channels =
      channels.div(of.outputs_of_a_group(), "floor") * of.inputs_of_a_group() + of_group;  // (count, inputs)
  const at::Tensor weights = of.weight.flatten(2);
  const at::Tensor factors =  // (count, inputs, taps)
      of.transposed ? weights.index({input_channels, channels.remainder(of.outputs_of_a_group())})
                    : weights.index({channels, of_group});
  const at::Tensor inputs = of.input.flatten(2).index({images, input_channels.unsqueeze(2), place.clamp_min(0)});
  const at::Tensor products = at::where(place.ge(0), inputs, at::zeros({}, inputs.options())) * factors;
  ConvolvedElements elements{products.sum({1, 2}), products.abs().sum({1, 2})};
  if (!of.bias.defined()) return elements;
  const at::Tensor added = of.bias.index({channels.squeeze(1)});
  return {elements.values + added, elements.sizes + added.abs()};
}

}  // namespace cudal1
