// From the rewards of one prompt's samples to their advantages, and whether a group teaches anything at all.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "train/reward_shaping.hpp"

namespace cudal1 {

struct GroupOptions {
  double deviation_floor = 0.1;  //!< in units of the reward: a smaller spread is not blown up to 1
  int most_resamples = 2;        //!< of a group that teaches nothing
};

//! A_i = (r_i - mean) / max(std, floor), std over n; all 0 where all rewards are equal. Throws Error for a reward that
//! is not finite and for a floor below 0.
std::vector<double> group_advantages(std::span<const double> rewards, double deviation_floor);

//! The same over the samples that count; the others have 0.
std::vector<double> group_advantages(std::span<const ShapedReward> group, double deviation_floor);

enum class GroupSpread {
  spread,      //!< some sample was better than another beyond what measuring leaves open
  tie,         //!< one value lies in the intervals of all: the differences may be noise
  all_failed,  //!< no sample was a success or a copy of one
  unmeasured,  //!< fewer than two samples count
};

std::string_view to_string(GroupSpread spread);

GroupSpread spread_of(std::span<const ShapedReward> group);

enum class GroupAction {
  train,
  resample,  //!< the same task once more, with exemplars drawn anew
  drop,      //!< no gradient
};

//! Ties and what could not be measured are sampled again until `most_resamples`; where all failed, more of the same
//! would fail too, and evaluations are the budget.
GroupAction action_for(GroupSpread spread, int resampled_before, const GroupOptions& options);

//! For the progress report; one of each group that was sampled, those that were sampled again included.
struct GroupCounts {
  std::int64_t sampled = 0;
  std::int64_t trained = 0, resampled = 0, dropped = 0;  //!< add up to sampled
  std::int64_t ties = 0, all_failed = 0, unmeasured = 0;

  void add(GroupSpread spread, GroupAction action);
  double tie_share() const { return sampled > 0 ? static_cast<double>(ties) / static_cast<double>(sampled) : 0.0; }
};

}  // namespace cudal1
