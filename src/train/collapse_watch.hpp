// When to stop a run that has stopped learning: what the last steps have in common, as a reason for people.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace cudal1 {

//! Who earned a reward, and with what.
struct EarnedReward {
  std::string trick;  //!< a name for what the program does, the same in all tasks: its techniques, say
  double reward = 0.0;
};

struct TrickShare {
  std::string trick;   //!< that earned most; empty where nothing was earned
  double share = 0.0;  //!< of all rewards above 0
};

//! Of equal ones the first by the alphabet. Rewards of 0 and below are not looked at. Throws Error for one that is not
//! finite.
TrickShare largest_trick_share(std::span<const EarnedReward> rewards);

//! Plans that differ; answers without one (an empty hash) do not count.
std::size_t distinct_plans(std::span<const std::string> plan_hashes);

//! What is watched of one step.
struct StepVitals {
  double entropy = 0.0;         //!< nats, mean over the tokens that the model chose
  std::optional<double> kl;     //!< nats, to the reference policy, mean over the same tokens; nothing: not computed
  double distinct_plans = 0.0;  //!< mean over groups
  TrickShare trick;             //!< where others could have been used
  bool skipped = false;         //!< the loss was not finite: nothing was learned, and the numbers above do not count
};

struct CollapseLimits {
  std::size_t steps = 5;              //!< the median of so many must lie beyond a limit
  double least_entropy = 0.02;        //!< below it the model always says the same
  double largest_kl = 1.0;            //!< above it it has forgotten what it was taught
  double least_distinct_plans = 3.0;  //!< a group
  double largest_trick_share = 0.9;   //!< at or above it one trick earns everything where others would have worked
  std::size_t most_skipped = 3;       //!< steps in a row
};

//! Why the run should stop, in one line with the numbers; nothing while it is well, and before there are enough steps.
//! The last step is the last of `history`; steps that have no KL, or no reward where there was a choice, are left out
//! of that median, and older ones take their places.
std::optional<std::string> collapse_reason(std::span<const StepVitals> history, const CollapseLimits& limits = {});

}  // namespace cudal1
