#include "train/grpo_loss.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

namespace cudal1 {
namespace {

constexpr std::array<std::pair<LengthNormalisation, std::string_view>, 2> normalisation_names{
    {{LengthNormalisation::per_token, "per_token"}, {LengthNormalisation::per_sample, "per_sample"}}};

std::int64_t free_count(const FreeTokens& sample) {
  return std::ranges::count_if(sample, [](std::uint8_t is_free) { return is_free != 0; });
}

struct Token {
  double now = 0.0, old = 0.0, reference = 0.0, advantage = 0.0, weight = 0.0;
  bool by_earlier_policy = false;
};

struct TokenLoss {
  double policy = 0.0, kl = 0.0;              //!< without weights
  double policy_slope = 0.0, kl_slope = 0.0;  //!< by the new log-probability
  double ratio = 1.0;
  bool clipped = false;
};

//! What the advantage is multiplied with. At a bound itself that is still the ratio, and has its slope.
double counted_ratio(double ratio, const Token& token, const GrpoOptions& options) {
  const double bounded = std::clamp(ratio, 1.0 - options.clip_low, 1.0 + options.clip_high);
  const double counted = bounded * token.advantage < ratio * token.advantage ? bounded : ratio;
  // One token that the earlier policy hardly ever drew would else be the whole update.
  const bool is_limited = token.by_earlier_policy && token.advantage < 0.0;
  return is_limited ? std::min(counted, largest_earlier_ratio) : counted;
}

TokenLoss loss_of(const Token& token, const GrpoOptions& options) {
  TokenLoss result;
  result.ratio = std::exp(token.now - token.old);
  const double counted = counted_ratio(result.ratio, token, options);
  result.clipped = counted != result.ratio;
  result.policy = -counted * token.advantage;
  result.policy_slope = result.clipped ? 0.0 : result.policy;
  const double apart = token.reference - token.now;
  // expm1 keeps the digits where the two policies are close, which is nearly everywhere.
  result.kl = std::expm1(apart) - apart;
  result.kl_slope = -std::expm1(apart);
  return result;
}

void check_lengths(std::size_t count, const GrpoTokens& tokens) {
  const std::size_t marks = tokens.by_earlier_policy.empty() ? count : tokens.by_earlier_policy.size();
  for (const std::size_t beside : {tokens.old_log_probabilities.size(), tokens.reference_log_probabilities.size(),
                                   tokens.advantages.size(), tokens.weights.size(), marks})
    if (beside != count)
      throw Error(fmt::format("GRPO: {} log-probabilities, but {} numbers beside them", count, beside));
}

Failure not_finite(std::string_view what, std::size_t token, double value) {
  return {Status::judge_error, fmt::format("the {} of token {} is {}", what, token, value)};
}

//! The first number that is not finite.
std::optional<Failure> fault_of(const Token& token, std::size_t index) {
  const std::pair<std::string_view, double> numbers[] = {{"log-probability", token.now},
                                                         {"sampling policy's log-probability", token.old},
                                                         {"reference policy's log-probability", token.reference},
                                                         {"advantage", token.advantage},
                                                         {"weight", token.weight}};
  for (const auto& [what, value] : numbers)
    if (!std::isfinite(value)) return not_finite(what, index, value);
  return std::nullopt;
}

std::optional<Failure> fault_of(const TokenLoss& loss, double slope, std::size_t index) {
  const std::pair<std::string_view, double> numbers[] = {
      {"ratio", loss.ratio}, {"KL", loss.kl}, {"slope", static_cast<float>(slope)}};
  for (const auto& [what, value] : numbers)
    if (!std::isfinite(value)) return not_finite(what, index, value);
  return std::nullopt;
}

}  // namespace

std::string_view to_string(LengthNormalisation normalisation) {
  return std::ranges::find(normalisation_names, normalisation, &std::pair<LengthNormalisation, std::string_view>::first)
      ->second;
}

std::optional<LengthNormalisation> length_normalisation_from_string(std::string_view name) {
  for (const auto& [normalisation, known] : normalisation_names)
    if (known == name) return normalisation;
  return std::nullopt;
}

void check(const GrpoOptions& options) {
  if (!(options.clip_low >= 0.0 && options.clip_low < 1.0))
    throw Error(fmt::format("GRPO: the lower clip must be from 0 to below 1, not {}", options.clip_low));
  if (!(options.clip_high >= 0.0)) throw Error(fmt::format("GRPO: an upper clip of {} is below 0", options.clip_high));
  if (!(options.kl_weight >= 0.0)) throw Error(fmt::format("GRPO: a KL weight of {} is below 0", options.kl_weight));
}

std::vector<std::vector<float>> grpo_token_weights(std::span<const FreeTokens> samples,
                                                   LengthNormalisation normalisation) {
  std::int64_t all = 0;
  for (const FreeTokens& sample : samples) all += free_count(sample);
  std::vector<std::vector<float>> weights;
  for (const FreeTokens& sample : samples) {
    const std::int64_t tokens = normalisation == LengthNormalisation::per_token
                                    ? all
                                    : static_cast<std::int64_t>(samples.size()) * free_count(sample);
    std::vector<float>& of_sample = weights.emplace_back();
    for (const std::uint8_t is_free : sample)
      of_sample.push_back(is_free != 0 ? static_cast<float>(1.0 / static_cast<double>(tokens)) : 0.0f);
  }
  return weights;
}

GrpoTokens GrpoTokens::part(std::size_t first, std::size_t count) const {
  const bool is_marked = !by_earlier_policy.empty();
  return {old_log_probabilities.subspan(first, count), reference_log_probabilities.subspan(first, count),
          advantages.subspan(first, count), weights.subspan(first, count),
          is_marked ? by_earlier_policy.subspan(first, count) : by_earlier_policy};
}

Result<GrpoLoss> grpo_loss(std::span<const float> new_log_probabilities, const GrpoTokens& tokens,
                           const GrpoOptions& options) {
  check(options);
  check_lengths(new_log_probabilities.size(), tokens);
  GrpoLoss sum;
  for (std::size_t i = 0; i < new_log_probabilities.size(); ++i) {
    const Token token{new_log_probabilities[i],
                      tokens.old_log_probabilities[i],
                      tokens.reference_log_probabilities[i],
                      tokens.advantages[i],
                      tokens.weights[i],
                      !tokens.by_earlier_policy.empty() && tokens.by_earlier_policy[i] != 0};
    if (const auto fault = fault_of(token, i)) return *fault;
    const TokenLoss loss = loss_of(token, options);
    const double slope = token.weight * (loss.policy_slope + options.kl_weight * loss.kl_slope);
    if (const auto fault = fault_of(loss, slope, i)) return *fault;
    sum.policy_loss += token.weight * loss.policy;
    sum.kl += token.weight * loss.kl;
    sum.clipped += loss.clipped;
    sum.largest_ratio = std::max(sum.largest_ratio, loss.ratio);
    sum.slopes.push_back(static_cast<float>(slope));
  }
  sum.loss = sum.policy_loss + options.kl_weight * sum.kl;
  return sum;
}

}  // namespace cudal1
