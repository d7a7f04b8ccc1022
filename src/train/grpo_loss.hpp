// The objective of stage 3 (GRPO, as the paper has it) and its slopes in closed form, token by token: what a training
// step takes in place of weights. Plain numbers; arrays are in the order of a TrainingBatch's targets, (N).
//
// With rho = exp(new - old), of a token of a sample with advantage A and weight w:
//   loss = - sum of w ( min(rho A, clip(rho, 1 - clip_low, 1 + clip_high) A) - kl_weight k3 )
//   k3 = exp(reference - new) - (reference - new) - 1     (Schulman's estimator of KL(new || reference): never below 0)
//   d loss / d new = - w ( rho A where the first of the two is taken, else 0 ) + w kl_weight (1 - exp(reference - new))
// The minimum has no bound where A < 0 and rho is large. Of an answer by an earlier policy it is at least
// largest_earlier_ratio A there, without a slope beyond that (dual clip).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace cudal1 {

enum class LengthNormalisation {
  per_token,   //!< w = 1 / free tokens of all samples: long answers weigh more
  per_sample,  //!< w = 1 / (samples * free tokens of this one), as first published: each answer weighs the same
};

std::string_view to_string(LengthNormalisation normalisation);
std::optional<LengthNormalisation> length_normalisation_from_string(std::string_view name);

//! Of tokens with a negative advantage, where an earlier policy drew them: larger ratios count as this one.
inline constexpr double largest_earlier_ratio = 3.0;

struct GrpoOptions {
  double clip_low = 0.2, clip_high = 0.28;  //!< ratios from 1 - low to 1 + high count in full
  double kl_weight = 0.02;                  //!< beta
  LengthNormalisation normalisation = LengthNormalisation::per_token;
};

//! Throws Error for a clip below 0, a lower one of 1 or more, a KL weight below 0.
void check(const GrpoOptions& options);

//! Of one answer: 1 for each token that the model chose, 0 where the grammar left it no choice or the token was given.
using FreeTokens = std::vector<std::uint8_t>;

//! A weight for each token of each sample, 0 where it was not chosen: the weights of TrainingTexts. `samples` are all
//! those of one update, however many batches they are accumulated in. A sample without free tokens has no say, but
//! counts as a sample.
std::vector<std::vector<float>> grpo_token_weights(std::span<const FreeTokens> samples,
                                                   LengthNormalisation normalisation);

//! What stays as it is while the policy changes, of each token that counts: (N) each.
struct GrpoTokens {
  std::span<const float> old_log_probabilities;        //!< of the policy that sampled
  std::span<const float> reference_log_probabilities;  //!< of the policy that it may not leave
  std::span<const float> advantages;                   //!< of the token's sample
  std::span<const float> weights;
  //! 1 where the weights have changed since the token was drawn: old is what it had then. Empty: nowhere.
  std::span<const std::uint8_t> by_earlier_policy = {};
  //! Tokens first, first + 1, ...
  GrpoTokens part(std::size_t first, std::size_t count) const;
};

struct GrpoLoss {
  double loss = 0.0;           //!< policy_loss + kl_weight * kl
  double policy_loss = 0.0;    //!< of the clipped ratios alone
  double kl = 0.0;             //!< weighted sum of k3
  std::int64_t clipped = 0;    //!< tokens whose ratio has no slope any more
  double largest_ratio = 0.0;  //!< of all tokens; 1 while the policy is the one that sampled
  std::vector<float> slopes;   //!< (N): d loss / d new log-probability
};

//! Sums over the tokens that are given, so that losses of parts add up. The failure names the first number that is not
//! finite, and its token: a step to be left out. Throws Error where arrays differ in length.
Result<GrpoLoss> grpo_loss(std::span<const float> new_log_probabilities, const GrpoTokens& tokens,
                           const GrpoOptions& options);

}  // namespace cudal1
