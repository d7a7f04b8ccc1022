// From what became of the samples of one prompt to their rewards: the paper's, or the logarithm of the speed-up.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "train/sample_outcome.hpp"

namespace cudal1 {

enum class RewardShape {
  log_speedup,  //!< ln of the speed-up; a fixed penalty for failure; nothing for a copy of an exemplar
  paper,        //!< the speed-up rounded toward 1; 0 for failure; copies count as any other
};

std::string_view to_string(RewardShape shape);
std::optional<RewardShape> reward_shape_from_string(std::string_view name);

struct RewardOptions {
  RewardShape shape = RewardShape::log_speedup;
  double failure_reward = -1.0;       //!< of log_speedup; no success is worth less, however slow
  double least_replaced_share = 0.5;  //!< of the reference's time, for a success
};

//! What the prompt of a group had, and what writing nothing comes to.
struct RewardContext {
  std::string empty_plan_hash;
  std::vector<std::string> exemplar_plan_hashes;
};

enum class SampleKind {
  success,
  copy,       //!< a success whose plan is that of an exemplar
  idle,       //!< right, but it is the empty program's plan, or replaces too little
  failure,    //!< anything else that is the program's own fault
  uncounted,  //!< no fault of the program and no time either: unstable, or the judge failed
};

std::string_view to_string(SampleKind kind);

//! Verified, another plan than the empty program's, and the replaced nodes hold at least that share of the reference's
//! time. Whether its time settled does not matter.
bool is_success(const SampleOutcome& outcome, std::string_view empty_plan_hash, double least_replaced_share = 0.5);

SampleKind kind_of(const SampleOutcome& outcome, const RewardContext& context, const RewardOptions& options);

struct ShapedReward {
  SampleKind kind = SampleKind::uncounted;
  //! With the interval that measuring leaves; all three are equal where the reward is fixed, 0 where it is uncounted.
  double reward = 0.0, low = 0.0, high = 0.0;
};

//! Throws Error for a speed-up or an interval that is not finite and above 0.
ShapedReward shaped_reward(const SampleOutcome& outcome, const RewardContext& context, const RewardOptions& options);

//! The paper's k of clip((r - mean) / std, -k, k).
inline constexpr double smoothing_limit = 1.5;

//! r' = clip((r - mean) / std, -limit, limit), with the mean and the standard deviation (over n) of these rewards; 0
//! where they are all equal. Throws Error for a reward that is not finite.
std::vector<double> smoothed_rewards(std::span<const double> rewards, double limit = smoothing_limit);

}  // namespace cudal1
