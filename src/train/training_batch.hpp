// Texts to learn from, packed for one step.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/transformer/packed_tokens.hpp"

namespace cudal1 {

struct TrainingText {
  std::vector<std::int32_t> tokens;
  //! Of each token, how much its log-probability counts: 0 where it is given and not learned, 1 / all tokens for their
  //! mean, an advantage. As many as tokens; the first has nothing before it and does not count.
  std::vector<float> weights;
};

//! The loss is - sum of weights times log-probabilities.
struct TrainingBatch {
  PackedTokens tokens;
  at::Tensor rows;     //!< (N) int64: positions after which a token counts
  at::Tensor targets;  //!< (N) int64: these tokens
  at::Tensor weights;  //!< (N) fp32, none of them 0
};

//! Nobody waits for the device. Throws Error where there is no text, one without tokens, with another number of
//! weights, or where no token counts.
TrainingBatch pack_training_texts(std::span<const TrainingText> texts, at::Device device = at::kCPU);

}  // namespace cudal1
