#include "model/transformer/attention.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/tensor.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>

#include "base/result.hpp"
#include "model/transformer/flash_varlen.hpp"

namespace cudal1 {
namespace {

//! (t, heads, D) -> (t, heads, D), one sequence
at::Tensor one_sequence(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value) {
  const AttentionOperands operands = attention_operands(query, key, value);
  const at::Tensor out = at::scaled_dot_product_attention(operands.query, operands.key, operands.value, {}, 0.0,
                                                          /*is_causal=*/true);  // (G, kv_heads, t, D)
  return out.permute({2, 1, 0, 3}).reshape(query.sizes());
}

//! Elsewhere flash attention takes one sequence a call.
bool goes_by_cumulative_lengths(const at::Tensor& query) {
  return query.is_cuda() && query.scalar_type() != at::kFloat;
}

}  // namespace

std::int64_t PackedTokens::longest() const {
  std::int64_t longest = 0;
  for (std::size_t i = 0; i + 1 < starts.size(); ++i) longest = std::max(longest, starts[i + 1] - starts[i]);
  return longest;
}

at::Tensor uploaded(const at::Tensor& values, at::Device device) {
  return device.is_cuda() ? values.pin_memory().to(device, /*non_blocking=*/true) : values.to(device);
}

PackedTokens pack_tokens(std::span<const std::vector<std::int32_t>> sequences, at::Device device) {
  if (sequences.empty()) throw Error("there is no sequence of tokens to compute");
  std::vector<std::int64_t> ids, positions, starts = {0};
  for (const std::vector<std::int32_t>& sequence : sequences) {
    if (sequence.empty()) throw Error("a sequence without tokens cannot be computed; give it a first token");
    ids.insert(ids.end(), sequence.begin(), sequence.end());
    for (std::size_t i = 0; i < sequence.size(); ++i) positions.push_back(static_cast<std::int64_t>(i));
    starts.push_back(static_cast<std::int64_t>(ids.size()));
  }
  const at::Tensor lengths = uploaded(at::tensor(starts, at::kInt), device);  // (B + 1)
  return {uploaded(at::tensor(ids, at::kLong), device), uploaded(at::tensor(positions, at::kLong), device),
          std::move(starts), lengths};
}

AttentionOperands attention_operands(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value) {
  const std::int64_t length = query.size(0), kv_heads = key.size(1), size = query.size(2);
  const std::int64_t group = query.size(1) / kv_heads;
  const auto shared = [&](const at::Tensor& heads) {
    return heads.permute({1, 0, 2}).unsqueeze(0).expand({group, kv_heads, length, size});
  };
  return {query.view({length, kv_heads, group, size}).permute({2, 1, 0, 3}), shared(key), shared(value)};
}

at::Tensor packed_attention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                            const PackedTokens& tokens) {
  if (goes_by_cumulative_lengths(query))
    return flash_varlen(query, key, value, tokens.cumulative_lengths, tokens.longest()).out;
  std::vector<at::Tensor> outputs;
  for (std::size_t i = 0; i + 1 < tokens.starts.size(); ++i) {
    const std::int64_t start = tokens.starts[i], length = tokens.starts[i + 1] - start;
    outputs.push_back(
        one_sequence(query.narrow(0, start, length), key.narrow(0, start, length), value.narrow(0, start, length)));
  }
  return outputs.size() == 1 ? outputs[0] : at::cat(outputs, 0);  // (T, heads, D)
}

AttentionResult packed_attention_for_gradients(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                                               const PackedTokens& tokens) {
  if (goes_by_cumulative_lengths(query)) {
    const FlashResult made = flash_varlen(query, key, value, tokens.cumulative_lengths, tokens.longest());
    return {made.out, made.log_sums, made.random_state, made.unused, {}};
  }
  const at::AutoGradMode with_gradients(true);
  AttentionResult made;
  for (const at::Tensor& operand : {query, key, value}) made.recorded.push_back(operand.detach().requires_grad_());
  made.recorded.push_back(packed_attention(made.recorded[0], made.recorded[1], made.recorded[2], tokens));
  made.out = made.recorded.back().detach();
  return made;
}

AttentionGradients packed_attention_backward(const at::Tensor& out_gradient, const at::Tensor& query,
                                             const at::Tensor& key, const at::Tensor& value,
                                             const AttentionResult& result, const PackedTokens& tokens) {
  if (result.recorded.empty()) {
    const FlashResult forward{result.out, result.log_sums, result.random_state, result.unused};
    const auto [of_query, of_key, of_value] =
        flash_varlen_backward(out_gradient, query, key, value, forward, tokens.cumulative_lengths, tokens.longest());
    return {of_query, of_key, of_value};
  }
  const std::vector<at::Tensor>& recorded = result.recorded;
  const std::vector<at::Tensor> made =
      torch::autograd::grad({recorded[3]}, {recorded[0], recorded[1], recorded[2]}, {out_gradient});
  return {made[0], made[1], made[2]};
}

}  // namespace cudal1
