// The fp64 convolution of the oracle, one of walk_kernels.hpp: cuDNN and ATen use a small part of what a GPU can do.
// convolution_walk.hpp launches it.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <string>

namespace cudal1::walk_kernels {

//! Output positions that a thread computes.
inline constexpr int positions_of_a_thread = 4;

//! Output channels that a thread computes at each position: the kernel is there for each of these numbers.
inline constexpr std::array<int, 3> channels_of_a_thread = {1, 4, 8};

inline std::string convolution_for(int channels) { return fmt::format("convolution<{}>", channels); }

//! One spatial dimension. Outputs whose index is the same modulo `phases` meet the same taps: all outputs, or in a
//! transposed convolution those that lie a stride apart, so that it falls into plain ones of fewer taps. The output
//! phases * q + phase meets the input stride * q + (phase + shift - tap * dilation) / phases, where that is whole.
struct ConvolutionAxis {
  std::int64_t inputs = 1, outputs = 1, taps = 1;
  std::int64_t phases = 1, stride = 1;
  std::int64_t shift = 0, dilation = -1;
  std::int64_t period = 1;  //!< from a tap that a phase meets to the next
};

//! The kernel's parameters after input, weights, bias (or null) and output, word by word.
//! Weights: (group, block of channels of a thread, tap, input channel of the group, channel of the block).
struct ConvolutionShape {
  std::int64_t images = 0, groups = 1;
  std::int64_t inputs = 1, outputs = 1;  //!< channels of a group
  std::int64_t inputs_at_once = 1;       //!< that go through all taps before the next ones: they stay in L1
  std::int64_t blocks_side_by_side = 1;  //!< of output channels, within a block of threads
  ConvolutionAxis axes[3];               //!< depth, height, width
};

inline constexpr const char* convolution_source = R"cuda(
// --- convolution

struct Axis {
  Index inputs, outputs, taps, phases, stride, shift, dilation, period;
};

struct Convolution {
  Index images, groups, inputs, outputs, inputs_at_once, blocks_side_by_side;
  Axis depth, height, width;
};

// What the outputs of one phase have in common: the q-th meets input stride * q + first_input + input_step * j with the
// tap first_tap + period * j.
struct Phase {
  int phase, outputs, first_tap, taps, first_input, input_step;
};

__device__ __forceinline__ int outputs_of_a_phase(const Axis& axis) {
  return ((int)axis.outputs + (int)axis.phases - 1) / (int)axis.phases;
}

__device__ __forceinline__ Phase phase_of(const Axis& axis, int phase) {
  const int phases = (int)axis.phases, taps = (int)axis.taps, period = (int)axis.period;
  const int start = phase + (int)axis.shift, dilation = (int)axis.dilation;
  int tap = 0;
  while (tap < taps && (start - tap * dilation) % phases != 0) ++tap;
  return {phase,
          outputs_of_a_phase(axis),
          tap,
          (taps - tap + period - 1) / period,
          (start - tap * dilation) / phases,
          -dilation * period / phases};
}

// What a block of threads computes: some channels of one group, at positions of one phase.
struct Unit {
  Phase depth, height, width;
  int group, first_channel_block;
  unsigned first_position;
};

__device__ __forceinline__ int phases_of(const Convolution& of) {
  return (int)of.depth.phases * (int)of.height.phases * (int)of.width.phases;
}

__device__ __forceinline__ unsigned positions_of_a_phase(const Convolution& of) {
  return (unsigned)of.images * outputs_of_a_phase(of.depth) * outputs_of_a_phase(of.height) *
         outputs_of_a_phase(of.width);
}

__device__ __forceinline__ int threads_side_by_side(const Convolution& of) { return 256 / (int)of.blocks_side_by_side; }

// Channels change first, then phases, then positions: what runs at the same time reads the same inputs.
__device__ __forceinline__ Unit unit_at(const Convolution& of, unsigned index, int channel_blocks) {
  const unsigned side_by_side = (unsigned)of.blocks_side_by_side, channel_tiles = channel_blocks / side_by_side;
  Unit unit;
  unit.first_channel_block = (int)(index % channel_tiles * side_by_side);
  index /= channel_tiles;
  unit.group = (int)(index % (unsigned)of.groups);
  index /= (unsigned)of.groups;
  int phase = (int)(index % (unsigned)phases_of(of));
  unit.first_position = index / (unsigned)phases_of(of) * (4 * threads_side_by_side(of));
  unit.width = phase_of(of.width, phase % (int)of.width.phases);
  phase /= (int)of.width.phases;
  unit.height = phase_of(of.height, phase % (int)of.height.phases);
  unit.depth = phase_of(of.depth, phase / (int)of.height.phases);
  return unit;
}

// By index among the outputs of a phase.
struct Position {
  unsigned index;
  int image, depth, height, width;
};

// The p-th of this thread's. Neighbouring threads have neighbouring ones.
__device__ __forceinline__ Position position_at(const Convolution& of, const Unit& unit, int p) {
  const int threads = threads_side_by_side(of);
  Position at;
  at.index = unit.first_position + p * threads + threadIdx.x % threads;
  unsigned rest = at.index;
  at.width = rest % unit.width.outputs;
  rest /= unit.width.outputs;
  at.height = rest % unit.height.outputs;
  rest /= unit.height.outputs;
  at.depth = rest % unit.depth.outputs;
  at.image = rest / unit.depth.outputs;
  return at;
}

// What the sums of many channels leave no registers for: then it is read as `volatile`, at every tap again.
struct Kept {
  Unit unit;
  Index input[4][256];  // which the first tap of the phase takes, at each position of each thread; and where it lies
  int depth[4][256], height[4][256], width[4][256];
};

__device__ __forceinline__ void keep_positions(const Convolution& of, Kept& kept) {
  const Unit& unit = kept.unit;
  for (int p = 0; p < 4; ++p) {
    const Position at = position_at(of, unit, p);
    const int depth = at.depth * (int)of.depth.stride + unit.depth.first_input;
    const int height = at.height * (int)of.height.stride + unit.height.first_input;
    const int width = at.width * (int)of.width.stride + unit.width.first_input;
    const Index channel = (at.image * of.groups + unit.group) * of.inputs;
    kept.input[p][threadIdx.x] =
        ((channel * of.depth.inputs + depth) * of.height.inputs + height) * of.width.inputs + width;
    // Beyond the last position nothing is within.
    kept.depth[p][threadIdx.x] = at.index < positions_of_a_phase(of) ? depth : -(1 << 30);
    kept.height[p][threadIdx.x] = height;
    kept.width[p][threadIdx.x] = width;
  }
}

__device__ __forceinline__ bool is_within(int index, Index size) { return (unsigned)index < (unsigned)size; }

template <int channels>
__device__ __forceinline__ void read_weights(const double* __restrict__ from, double (&weights)[channels]) {
  if (channels == 1) weights[0] = __ldg(from);
#pragma unroll
  for (int c = 0; c + 1 < channels; c += 2) {
    const double2 pair = __ldg((const double2*)(from + c));
    weights[c] = pair.x;
    weights[c + 1] = pair.y;
  }
}

// Some input channels, which lie `volume` apart, at four positions.
template <int channels>
__device__ __forceinline__ void add_products(const double* (&inputs)[4], const bool (&valid)[4],
                                             const double* __restrict__ weights, int count, Index volume,
                                             double (&sums)[4][channels]) {
#pragma unroll 2
  for (int i = 0; i < count; ++i, weights += channels) {
    double x[4], w[channels];
#pragma unroll
    for (int p = 0; p < 4; ++p) x[p] = valid[p] ? __ldg(inputs[p]) : 0.0;
    read_weights(weights, w);
#pragma unroll
    for (int p = 0; p < 4; ++p) {
      inputs[p] += volume;
#pragma unroll
      for (int c = 0; c < channels; ++c) sums[p][c] = fma(x[p], w[c], sums[p][c]);
    }
  }
}

// One tap, the d-th, h-th and w-th of the phase: input channels from `begin` on.
template <int channels, class ReadKept>
__device__ __forceinline__ void add_tap(const Convolution& of, ReadKept& kept, int d, int h, int w, int begin,
                                        const double* __restrict__ input, const double* __restrict__ weights,
                                        double (&sums)[4][channels]) {
  auto& unit = kept.unit;
  const int depth = d * unit.depth.input_step, height = h * unit.height.input_step, width = w * unit.width.input_step;
  const Index volume = of.depth.inputs * of.height.inputs * of.width.inputs;
  const Index offset = begin * volume + (depth * of.height.inputs + height) * of.width.inputs + width;
  const double* inputs[4];
  bool valid[4], any = false;
#pragma unroll
  for (int p = 0; p < 4; ++p) {
    valid[p] = is_within(kept.depth[p][threadIdx.x] + depth, of.depth.inputs) &
               is_within(kept.height[p][threadIdx.x] + height, of.height.inputs) &
               is_within(kept.width[p][threadIdx.x] + width, of.width.inputs);
    any |= valid[p];
    inputs[p] = input + (kept.input[p][threadIdx.x] + offset);
  }
  if (!any) return;
  const int in_depth = unit.depth.first_tap + d * (int)of.depth.period;
  const int in_height = unit.height.first_tap + h * (int)of.height.period;
  const int in_width = unit.width.first_tap + w * (int)of.width.period;
  const Index tap = (in_depth * of.height.taps + in_height) * of.width.taps + in_width;
  const int count = min((int)of.inputs_at_once, (int)of.inputs - begin);
  add_products<channels>(inputs, valid, weights + (tap * of.inputs + begin) * channels, count, volume, sums);
}

// Some input channels go through all taps before the next ones do: neighbouring taps read nearly the same inputs, which
// then still lie in L1.
template <int channels, class ReadKept>
__device__ __forceinline__ void sum_up(const Convolution& of, ReadKept& kept, const double* __restrict__ input,
                                       const double* __restrict__ weights, double (&sums)[4][channels]) {
  for (int begin = 0; begin < (int)of.inputs; begin += (int)of.inputs_at_once)
    for (int d = 0; d < kept.unit.depth.taps; ++d)
      for (int h = 0; h < kept.unit.height.taps; ++h)
        for (int w = 0; w < kept.unit.width.taps; ++w)
          add_tap<channels>(of, kept, d, h, w, begin, input, weights, sums);
}

__device__ __forceinline__ Index output_index(const Axis& axis, const Phase& phase, int position) {
  return position * axis.phases + phase.phase;
}

template <int channels>
__device__ __forceinline__ void write_sums(const Convolution& of, const Unit& unit, int channel_block,
                                           const double* __restrict__ bias, const double (&sums)[4][channels],
                                           double* __restrict__ output) {
  const Index volume = of.depth.outputs * of.height.outputs * of.width.outputs;
  const int first = channel_block * channels;
#pragma unroll
  for (int p = 0; p < 4; ++p) {
    const Position at = position_at(of, unit, p);
    const Index depth = output_index(of.depth, unit.depth, at.depth);
    const Index height = output_index(of.height, unit.height, at.height);
    const Index width = output_index(of.width, unit.width, at.width);
    // Some phases end before others do.
    const bool exists = at.index < positions_of_a_phase(of) && depth < of.depth.outputs &&
                        height < of.height.outputs && width < of.width.outputs;
    if (!exists) continue;
    const Index place = (depth * of.height.outputs + height) * of.width.outputs + width;
#pragma unroll
    for (int c = 0; c < channels; ++c) {
      if (first + c >= (int)of.outputs) continue;
      const Index channel = unit.group * of.outputs + first + c;
      output[(at.image * of.groups * of.outputs + channel) * volume + place] =
          sums[p][c] + (bias ? bias[channel] : 0.0);
    }
  }
}

// A launch passes words alone.
#define WORDS_OF_AXIS(axis)                                                                                      \
  Index axis##_inputs, Index axis##_outputs, Index axis##_taps, Index axis##_phases, Index axis##_stride,        \
      Index axis##_shift, Index axis##_dilation, Index axis##_period
#define AXIS_OF_WORDS(axis)                                                                                      \
  {axis##_inputs, axis##_outputs, axis##_taps,     axis##_phases,                                                \
   axis##_stride, axis##_shift,   axis##_dilation, axis##_period}

// A thread keeps the sums of four positions x `channels` output channels in registers: of each input that it reads it
// makes `channels` products, of each weight four.
template <int channels>
__global__ void __launch_bounds__(256, 2) convolution(const double* __restrict__ input,
                                                      const double* __restrict__ weights,
                                                      const double* __restrict__ bias, double* __restrict__ output,
                                                      Index images, Index groups, Index inputs, Index outputs,
                                                      Index inputs_at_once, Index blocks_side_by_side,
                                                      WORDS_OF_AXIS(depth), WORDS_OF_AXIS(height),
                                                      WORDS_OF_AXIS(width)) {
  __shared__ Kept kept;
  const Convolution of = {images,
                          groups,
                          inputs,
                          outputs,
                          inputs_at_once,
                          blocks_side_by_side,
                          AXIS_OF_WORDS(depth),
                          AXIS_OF_WORDS(height),
                          AXIS_OF_WORDS(width)};
  const int channel_blocks = ((int)of.outputs + channels - 1) / channels;
  const unsigned positions_of_a_unit = 4 * threads_side_by_side(of);
  const unsigned tiles = (positions_of_a_phase(of) + positions_of_a_unit - 1) / positions_of_a_unit;
  const unsigned units = tiles * phases_of(of) * (unsigned)of.groups * (channel_blocks / (int)of.blocks_side_by_side);
  const Index weights_of_a_block = of.depth.taps * of.height.taps * of.width.taps * of.inputs * channels;
  for (unsigned index = blockIdx.x; index < units; index += gridDim.x) {
    if (threadIdx.x == 0) kept.unit = unit_at(of, index, channel_blocks);
    __syncthreads();
    keep_positions(of, kept);
    const int channel_block = kept.unit.first_channel_block + threadIdx.x / threads_side_by_side(of);
    const Index block = (Index)kept.unit.group * channel_blocks + channel_block;
    double sums[4][channels] = {};
    const double* own_weights = weights + block * weights_of_a_block;
    if (channels == 1)
      sum_up<channels>(of, (const Kept&)kept, input, own_weights, sums);
    else
      sum_up<channels>(of, (const volatile Kept&)kept, input, own_weights, sums);
    write_sums<channels>(of, kept.unit, channel_block, bias, sums, output);
    __syncthreads();
  }
}
)cuda";

}  // namespace cudal1::walk_kernels
