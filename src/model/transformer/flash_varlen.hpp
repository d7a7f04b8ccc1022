// The one call that differs between releases of PyTorch: flash attention over sequences of different lengths. Releases
// add parameters at its end and an overload with scales of fp8; those that we pass have stood since 2.5.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/_flash_attention_forward.h>

#include <cstdint>
#include <optional>
#include <tuple>

namespace cudal1 {

//! query (T, heads, D), key and value (T, kv_heads, D), cumulative lengths (B + 1) int32 on the device -> (T, heads,
//! D). CUDA only, 16-bit types only; differentiable.
inline at::Tensor flash_varlen(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                               const at::Tensor& cumulative_lengths, std::int64_t longest) {
  const std::optional<at::Tensor> lengths = cumulative_lengths;
  const std::optional<double> default_scale;  // typed, so that the overload is chosen
  return std::get<0>(at::_flash_attention_forward(query, key, value, lengths, lengths, longest, longest,
                                                  /*dropout_p=*/0.0, /*is_causal=*/true, /*return_debug_mask=*/false,
                                                  default_scale));
}

}  // namespace cudal1
