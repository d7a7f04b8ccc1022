// Causal attention over packed sequences, with several query heads to a key/value head and without a mask.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "model/transformer/packed_tokens.hpp"

namespace cudal1 {

//! query (T, heads, D), key and value (T, kv_heads, D) -> (T, heads, D). On the CPU, and for fp32, one call a sequence;
//! on CUDA in 16 bits one call for all of them by their cumulative lengths.
at::Tensor packed_attention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                            const PackedTokens& tokens);

//! The same for who computes gradients by hand: without autograd around it.
struct AttentionResult {
  at::Tensor out;                             //!< (T, heads, D)
  at::Tensor log_sums, random_state, unused;  //!< of flash attention
  std::vector<at::Tensor> recorded;           //!< elsewhere: query, key, value and out in a graph of their own
};
AttentionResult packed_attention_for_gradients(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                                               const PackedTokens& tokens);
struct AttentionGradients {
  at::Tensor query, key, value;
};
//! With the operands and the result of packed_attention_for_gradients; once.
AttentionGradients packed_attention_backward(const at::Tensor& out_gradient, const at::Tensor& query,
                                             const at::Tensor& key, const at::Tensor& value,
                                             const AttentionResult& result, const PackedTokens& tokens);

//! How one sequence goes to scaled_dot_product_attention: the query heads of one key/value head are rows of a batch, so
//! that keys and values are neither copied nor masked and a fused kernel takes them.
struct AttentionOperands {
  at::Tensor query;       //!< (heads / kv_heads, kv_heads, t, D)
  at::Tensor key, value;  //!< the same shape, the first dimension of stride 0
};
AttentionOperands attention_operands(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value);

}  // namespace cudal1
