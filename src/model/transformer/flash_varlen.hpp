// The calls that differ between releases of PyTorch: flash attention over sequences of different lengths, forward and
// backward. Releases add parameters at their ends and an overload with scales of fp8; those that we pass have stood
// since 2.5.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/_flash_attention_backward.h>
#include <ATen/ops/_flash_attention_forward.h>

#include <cstdint>
#include <optional>
#include <tuple>

namespace cudal1 {

//! What flash attention gives, and what it wants back for its gradients.
struct FlashResult {
  at::Tensor out;  //!< (T, heads, D)
  at::Tensor log_sums, random_state, unused;
};

//! query (T, heads, D), key and value (T, kv_heads, D), cumulative lengths (B + 1) int32 on the device. CUDA only,
//! 16-bit types only; `out` is differentiable.
inline FlashResult flash_varlen(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                                const at::Tensor& cumulative_lengths, std::int64_t longest) {
  const std::optional<at::Tensor> lengths = cumulative_lengths;
  const std::optional<double> default_scale;  // typed, so that the overload is chosen
  const auto made =
      at::_flash_attention_forward(query, key, value, lengths, lengths, longest, longest,
                                   /*dropout_p=*/0.0, /*is_causal=*/true, /*return_debug_mask=*/false, default_scale);
  return {std::get<0>(made), std::get<1>(made), std::get<2>(made), std::get<3>(made)};
}

//! Of query, key and value.
inline std::tuple<at::Tensor, at::Tensor, at::Tensor> flash_varlen_backward(
    const at::Tensor& out_gradient, const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
    const FlashResult& result, const at::Tensor& cumulative_lengths, std::int64_t longest) {
  return at::_flash_attention_backward(out_gradient, query, key, value, result.out, result.log_sums, cumulative_lengths,
                                       cumulative_lengths, longest, longest, /*dropout_p=*/0.0, /*is_causal=*/true,
                                       result.random_state, result.unused);
}

}  // namespace cudal1
