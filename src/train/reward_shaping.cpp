#include "train/reward_shaping.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/result.hpp"
#include "judge/timing_statistics.hpp"
#include "train/moments.hpp"

namespace cudal1 {
namespace {

constexpr std::array<std::pair<RewardShape, std::string_view>, 2> shape_names{
    {{RewardShape::log_speedup, "log_speedup"}, {RewardShape::paper, "paper"}}};

void check_speedup(const SampleOutcome& outcome) {
  for (const double value : {outcome.speedup, outcome.speedup_low, outcome.speedup_high})
    if (!std::isfinite(value) || value <= 0.0)
      throw Error(fmt::format("reward: plan {} has a speed-up of {} in [{}, {}], which must be finite and above 0",
                              outcome.plan_hash, outcome.speedup, outcome.speedup_low, outcome.speedup_high));
}

ShapedReward fixed(SampleKind kind, double reward) { return {kind, reward, reward, reward}; }

ShapedReward paper_reward(SampleKind kind, const SampleOutcome& outcome) {
  if (kind != SampleKind::success && kind != SampleKind::copy) return fixed(kind, 0.0);
  check_speedup(outcome);
  return {kind, round_toward_one(outcome.speedup), round_toward_one(outcome.speedup_low),
          round_toward_one(outcome.speedup_high)};
}

//! A copy earns nothing, yet one of a slow program keeps its loss: else copying would be better than trying.
ShapedReward log_reward(SampleKind kind, const SampleOutcome& outcome, double failure_reward) {
  if (kind != SampleKind::success && kind != SampleKind::copy) return fixed(kind, failure_reward);
  check_speedup(outcome);
  const double ceiling = kind == SampleKind::copy ? 0.0 : INFINITY;
  const auto shaped = [&](double speedup) { return std::max(failure_reward, std::min(ceiling, std::log(speedup))); };
  return {kind, shaped(outcome.speedup), shaped(outcome.speedup_low), shaped(outcome.speedup_high)};
}

}  // namespace

std::string_view to_string(RewardShape shape) {
  return std::ranges::find(shape_names, shape, &std::pair<RewardShape, std::string_view>::first)->second;
}

std::optional<RewardShape> reward_shape_from_string(std::string_view name) {
  for (const auto& [shape, known] : shape_names)
    if (known == name) return shape;
  return std::nullopt;
}

std::string_view to_string(SampleKind kind) {
  constexpr std::string_view names[] = {"success", "copy", "idle", "failure", "uncounted"};
  return names[static_cast<std::size_t>(kind)];
}

bool is_success(const SampleOutcome& outcome, std::string_view empty_plan_hash, double least_replaced_share) {
  return is_correct(outcome.status) && outcome.plan_hash != empty_plan_hash &&
         outcome.replaced_share >= least_replaced_share;
}

SampleKind kind_of(const SampleOutcome& outcome, const RewardContext& context, const RewardOptions& options) {
  if (outcome.status == Status::judge_error) return SampleKind::uncounted;
  if (!is_correct(outcome.status)) return SampleKind::failure;
  if (!is_success(outcome, context.empty_plan_hash, options.least_replaced_share)) return SampleKind::idle;
  if (outcome.status == Status::unstable) return SampleKind::uncounted;
  const bool is_copy =
      std::ranges::find(context.exemplar_plan_hashes, outcome.plan_hash) != context.exemplar_plan_hashes.end();
  return is_copy ? SampleKind::copy : SampleKind::success;
}

ShapedReward shaped_reward(const SampleOutcome& outcome, const RewardContext& context, const RewardOptions& options) {
  const SampleKind kind = kind_of(outcome, context, options);
  if (kind == SampleKind::uncounted) return {};
  return options.shape == RewardShape::paper ? paper_reward(kind, outcome)
                                             : log_reward(kind, outcome, options.failure_reward);
}

std::vector<double> smoothed_rewards(std::span<const double> rewards, double limit) {
  for (const double reward : rewards)
    if (!std::isfinite(reward)) throw Error(fmt::format("reward: {} among those to be smoothed", reward));
  const Moments moments = moments_of(rewards);
  std::vector<double> smoothed(rewards.size(), 0.0);
  if (moments.deviation == 0.0) return smoothed;
  for (std::size_t i = 0; i < rewards.size(); ++i)
    smoothed[i] = std::clamp((rewards[i] - moments.mean) / moments.deviation, -limit, limit);
  return smoothed;
}

}  // namespace cudal1
