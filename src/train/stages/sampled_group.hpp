// One prompt's answers with what they earned, compared with each other.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "train/collapse_watch.hpp"
#include "train/run/training_config.hpp"
#include "train/stages/judged_answers.hpp"
#include "train/stages/program_pool.hpp"

namespace cudal1 {

struct SampledGroup {
  std::size_t task = 0;     //!< number among the run's
  std::size_t number = 0;   //!< among the step's groups
  int resampled = 0;        //!< how often it was sampled before
  bool is_earlier = false;  //!< written by weights that have changed since
  bool has_choice = true;   //!< more than one trick is known to succeed at its task
  ShownPrograms shown;
  std::string prompt;
  std::vector<JudgedAnswer> answers;
  // Of what follows, one for each answer.
  std::vector<ShapedReward> rewards;
  std::vector<double> advantages;  //!< 0 where the group is not trained on
  GroupSpread spread = GroupSpread::unmeasured;
  GroupAction action = GroupAction::drop;
};

//! Fills rewards, advantages, spread and action. With the paper's reward and smoothing, advantages are those of the
//! smoothed rewards.
void weigh(SampledGroup& group, const std::string& empty_plan_hash, const ContrastiveSettings& settings);

//! What a step's groups, those that were sampled again included, came to.
struct GroupFigures {
  std::int64_t samples = 0;
  double reward = 0.0;        //!< mean over samples that count
  double success_rate = 0.0;  //!< of these; copies are successes
  double copy_rate = 0.0;
  double known_rate = 0.0;           //!< of programs: measured before
  double measured_again_rate = 0.0;  //!< of successes: surprising, and confirmed
  double best_speedup = 0.0;         //!< 0: no success
  double mean_log_speedup = 0.0;     //!< of successes
  double entropy = 0.0;              //!< nats: - mean log-probability of tokens that the model chose
  double distinct_plans = 0.0;       //!< mean over groups
  TrickShare trick;                  //!< of groups that have a choice
  GroupCounts counts;
};

//! A name for what a program does, the same in all tasks: the techniques that the writer makes it by.
std::string trick_of(const std::vector<std::string>& techniques);

GroupFigures figures_of(std::span<const SampledGroup> groups);

}  // namespace cudal1
