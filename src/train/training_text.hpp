#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "model/grammar/token_grammar.hpp"

namespace cudal1 {

//! A text to learn from, or to learn to avoid.
struct TrainingText {
  std::vector<std::int32_t> tokens;
  //! Of each token, how much its log-probability counts: 0 where it is given and not learned, 1 / all tokens for their
  //! mean, an advantage. As many as tokens; the first has nothing before it and does not count.
  std::vector<float> weights;
  //! Of each token, which ones could have come in its place: others are no part of the distribution. Null: all could.
  //! As many as tokens, or none at all.
  std::vector<std::shared_ptr<const TokenMask>> allowed = {};
};

}  // namespace cudal1
