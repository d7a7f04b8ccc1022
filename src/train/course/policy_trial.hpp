// How well a model writes programs for tasks: some rounds of samples, each of which may see what the rounds before it
// found. Arms of an experiment are compared by this.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "train/stages/contrastive_stage.hpp"

namespace cudal1 {

struct TrialOptions {
  std::int64_t rounds = 4, samples = 4;  //!< samples: of each task and round
  std::int64_t answer_tokens = 160;
  std::uint64_t seed = 0;
  ExemplarPoolOptions exemplars;
  RewardOptions reward;
  std::size_t tasks_at_once = 16;
  std::size_t first = 0;  //!< number of the first task, for who tries some of them at a time
  //! After the first round nothing is written: every answer repeats the best program so far.
  bool copies_best = false;
  TaskGrammar grammar = no_grammar;
};

//! What became of one task.
struct TrialTask {
  const TrainingTask* task = nullptr;
  std::vector<std::vector<ShapedReward>> rewards;  //!< [round][sample]
  std::vector<std::vector<std::string>> plans;     //!< [round][sample]: hashes; empty: none
  std::vector<std::vector<double>> speedups;       //!< [round][sample]: of successes and copies; 0: it is neither
  double best_speedup = 0.0;                       //!< of all successes; 0: none
};

//! All tasks together; samples that do not count are left out.
struct TrialFigures {
  double first_success = 0.0;   //!< share of the first round's samples, which have seen nothing
  double first_distinct = 0.0;  //!< distinct plans of a task in the first round
  double reward = 0.0;          //!< mean over tasks of the mean of all rounds
  double later_reward = 0.0;    //!< the same without the first round; 0 where there is one only
  double best_log = 0.0;        //!< mean over tasks of ln(best speed-up), 0 where there is no success
  double copy_rate = 0.0;       //!< of samples
};

std::vector<TrialTask> policy_trial(LearningModel& model, Assessor& assessor, std::span<const TrainingTask> tasks,
                                    const MakePrompt& prompt, const TrialOptions& options);

TrialFigures figures_of(std::span<const TrialTask> tasks);

}  // namespace cudal1
