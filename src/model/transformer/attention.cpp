#include "model/transformer/attention.hpp"

#include <ATen/ops/cat.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/tensor.h>

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

at::Tensor by_cumulative_lengths(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                                 const PackedTokens& tokens) {
  return flash_varlen(query, key, value, tokens.cumulative_lengths, tokens.longest());
}

}  // namespace

std::int64_t PackedTokens::longest() const {
  std::int64_t longest = 0;
  for (std::size_t i = 0; i + 1 < starts.size(); ++i) longest = std::max(longest, starts[i + 1] - starts[i]);
  return longest;
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
  const at::Tensor lengths = at::tensor(starts, at::kInt).to(device);  // (B + 1)
  return {at::tensor(ids, at::kLong).to(device), at::tensor(positions, at::kLong).to(device), std::move(starts),
          lengths};
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
  if (query.is_cuda() && query.scalar_type() != at::kFloat) return by_cumulative_lengths(query, key, value, tokens);
  std::vector<at::Tensor> outputs;
  for (std::size_t i = 0; i + 1 < tokens.starts.size(); ++i) {
    const std::int64_t start = tokens.starts[i], length = tokens.starts[i + 1] - start;
    outputs.push_back(
        one_sequence(query.narrow(0, start, length), key.narrow(0, start, length), value.narrow(0, start, length)));
  }
  return outputs.size() == 1 ? outputs[0] : at::cat(outputs, 0);  // (T, heads, D)
}

}  // namespace cudal1
