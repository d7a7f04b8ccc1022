#include "train/training_batch.hpp"

#include <ATen/ops/tensor.h>
#include <fmt/format.h>

#include "base/result.hpp"

namespace cudal1 {

TrainingBatch pack_training_texts(std::span<const TrainingText> texts, at::Device device) {
  std::vector<std::vector<std::int32_t>> sequences;
  std::vector<std::int64_t> rows, targets;
  std::vector<float> weights;
  std::int64_t first = 0;
  for (const TrainingText& text : texts) {
    if (text.weights.size() != text.tokens.size())
      throw Error(fmt::format("a text of {} tokens has {} weights", text.tokens.size(), text.weights.size()));
    for (std::size_t i = 1; i < text.tokens.size(); ++i)
      if (text.weights[i] != 0.0F) {
        rows.push_back(first + static_cast<std::int64_t>(i) - 1);
        targets.push_back(text.tokens[i]);
        weights.push_back(text.weights[i]);
      }
    sequences.push_back(text.tokens);
    first += static_cast<std::int64_t>(text.tokens.size());
  }
  PackedTokens tokens = pack_tokens(sequences, device);
  if (rows.empty()) throw Error("no token of these texts counts: there is nothing to learn");
  return {std::move(tokens), uploaded(at::tensor(rows, at::kLong), device),
          uploaded(at::tensor(targets, at::kLong), device), uploaded(at::tensor(weights, at::kFloat), device)};
}

}  // namespace cudal1
