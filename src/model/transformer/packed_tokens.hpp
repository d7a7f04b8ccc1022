// Several sequences laid end to end, without padding.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

namespace cudal1 {

struct PackedTokens {
  at::Tensor ids;                    //!< (T), int64
  at::Tensor positions;              //!< (T), int64: each token's place in its own sequence
  std::vector<std::int64_t> starts;  //!< where each sequence begins, and T: one more than there are sequences
  at::Tensor cumulative_lengths;     //!< the same on the device, int32: copied once, not in every layer

  std::int64_t longest() const;
};

//! On the device, without anybody waiting for it; to be used on PyTorch's current stream.
at::Tensor uploaded(const at::Tensor& values, at::Device device);

//! On the device without waiting for it. Throws Error where there is no sequence, or one without tokens.
PackedTokens pack_tokens(std::span<const std::vector<std::int32_t>> sequences, at::Device device = at::kCPU);

}  // namespace cudal1
