// Texts to learn from, packed for one step.
#pragma once

#include <cstdint>
#include <span>

#include "model/transformer/packed_tokens.hpp"
#include "train/training_text.hpp"

namespace cudal1 {

//! Which tokens may follow a position, in as few rows as there are different sets of them.
struct AllowedByRow {
  at::Tensor masks;  //!< (M, words of 32 bits) int32: bit id % 32 of word id / 32; not defined: all may follow all
  at::Tensor rows;   //!< (R) int32: of each position its row of masks; -1: all may follow

  bool defined() const { return masks.defined(); }
  AllowedByRow part(std::int64_t first, std::int64_t count) const;
};

//! The loss is - sum of weights times log-probabilities.
struct TrainingBatch {
  PackedTokens tokens;
  at::Tensor rows;     //!< (N) int64: positions after which a token counts
  at::Tensor targets;  //!< (N) int64: these tokens
  at::Tensor weights;  //!< (N) fp32, none of them 0
  AllowedByRow allowed = {};  //!< of the targets
};

//! Nobody waits for the device. Throws Error where there is no text, one without tokens, with another number of
//! weights or masks, masks of different vocabularies, or where no token counts.
TrainingBatch pack_training_texts(std::span<const TrainingText> texts, at::Device device = at::kCPU);

}  // namespace cudal1
