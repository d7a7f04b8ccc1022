// Convolutions in fp64 by a kernel of our own (convolution_kernel.hpp), and single elements of them by operators.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "judge/walk_device.hpp"

namespace cudal1 {

//! As the operands of at::convolution: lists have a number for each spatial dimension, of which there are one to three.
struct Convolution {
  at::Tensor input, weight;
  at::Tensor bias;  //!< may be undefined
  std::vector<std::int64_t> stride, padding, dilation, output_padding;
  std::int64_t groups = 1;
  bool transposed = false;

  std::int64_t inputs_of_a_group() const { return transposed ? weight.size(0) / groups : weight.size(1); }
  std::int64_t outputs_of_a_group() const { return transposed ? weight.size(1) : weight.size(0) / groups; }
  std::int64_t taps() const { return weight.numel() / (weight.size(0) * weight.size(1)); }
  std::vector<std::int64_t> result_sizes() const;
};

//! Batched fp64 operands that fit each other, of sizes that the kernel counts in 32 bits, with finite weights: the
//! kernel leaves out products with padding, or makes them with 0, as it comes.
bool can_walk(const Convolution& convolution);

//! What can_walk, on the device where its tensors are. Contiguous.
at::Tensor convolved(WalkDevice& device, const Convolution& convolution);

//! Some elements of a convolution's result.
struct ConvolvedElements {
  at::Tensor values;
  at::Tensor sizes;  //!< sums of |products|: what rounding errors are relative to
};

//! Of a result in contiguous order, by these indices; found by gathering what the definition says is multiplied.
ConvolvedElements convolved_elements(const Convolution& convolution, const std::vector<std::int64_t>& indices);

}  // namespace cudal1
