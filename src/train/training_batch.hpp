// Texts to learn from, packed for one step.
#pragma once

#include <span>

#include "model/transformer/packed_tokens.hpp"
#include "train/training_text.hpp"

namespace cudal1 {

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
