// Drawing one token from a model's scores.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

namespace cudal1 {

//! Applied in this order. The temperature flattens the policy; of what results, the top_k most probable tokens stay, of
//! these the fewest that have top_p of the probability together, of these those with at least min_p of the largest.
struct SamplingParameters {
  float temperature = 1.0F;  //!< 0: always the most probable token
  int top_k = 0;             //!< 0: all
  float top_p = 1.0F;        //!< 1: all
  float min_p = 0.0F;        //!< 0: all
};

//! Throws Error for a number that makes no sense, with its name.
void check_parameters(const SamplingParameters& parameters);

//! Which tokens may come: bit id % 64 of word id / 64.
struct AllowedTokens {
  std::vector<std::uint64_t> words;

  explicit AllowedTokens(std::int64_t vocabulary) : words(static_cast<std::size_t>((vocabulary + 63) / 64)) {}
  bool allows(std::size_t id) const { return words[id / 64] >> (id % 64) & 1U; }
  void allow(std::size_t id) { words[id / 64] |= std::uint64_t{1} << (id % 64); }
  void clear() { std::fill(words.begin(), words.end(), 0); }
  std::int64_t count() const {
    std::int64_t count = 0;
    for (const std::uint64_t word : words) count += std::popcount(word);
    return count;
  }
};

struct TokenDraw {
  SamplingParameters parameters;
  std::uint64_t seed = 0;
  std::int64_t position = 0;               //!< of the token in its text: with the seed all that chance depends on
  const AllowedTokens* allowed = nullptr;  //!< null: all; others are no part of the policy
};

struct DrawnToken {
  std::int32_t id = 0;
  float sampled_log_probability = 0.0F;  //!< under what it was drawn from: temperature, filters and mask applied
  //! Under the model's own distribution over the tokens that were allowed: temperature 1, no filters.
  float policy_log_probability = 0.0F;
  bool forced = false;                   //!< the mask left no choice
};

//! In [0, 1), a function of both numbers only.
double uniform_at(std::uint64_t seed, std::int64_t position);

//! Throws Error where the mask allows no token, or scores are not numbers.
DrawnToken draw_token(std::span<const float> logits, const TokenDraw& draw);

}  // namespace cudal1
