// Numbers of an ablation: what each arm came to for each seed and task, and what follows for all of them together.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "train/ablation/ablation_arms.hpp"
#include "train/bootstrap.hpp"
#include "train/course/policy_trial.hpp"

namespace cudal1 {

//! One number of one task's trial.
struct AblationMeasure {
  std::string_view name, title;
  //! Nothing where no sample counts. `failure_reward`: what a sample is worth that failed.
  std::optional<double> (*of)(const TrialTask& task, double failure_reward);
};

//! In the order of the tables: first_success, reward, reward_with_copies, best, copy_rate, repeat_rate.
std::span<const AblationMeasure> ablation_measures();

//! What an arm did: [seed][task].
struct ArmTrials {
  AblationArm arm;
  std::vector<std::vector<TrialTask>> trials;
  std::vector<std::string> stopped = {};  //!< of each seed: why its training ended early; empty: it did not
};

//! A mean with its interval, and each seed's alone: with few seeds the interval knows little of how they differ.
struct AblationFigure {
  MeanDifference over_all;
  std::vector<double> by_seed;
};

//! As the paper counts: the best program of each task and seed.
struct BestSpeedups {
  double mean = 0.0, median = 0.0;  //!< of those tasks where there is a success; 0: there is none
  double success_rate = 0.0, faster_rate = 0.0;  //!< of all tasks; faster: by over 1%
};

struct ArmScores {
  AblationArm arm;
  std::vector<AblationFigure> figures;  //!< by measure
  BestSpeedups best;
  std::vector<std::string> stopped;
};

struct DifferenceScores {
  AblationDifference arms;
  std::vector<AblationFigure> figures;  //!< by measure
};

struct AblationScores {
  std::vector<std::uint64_t> seeds;
  std::size_t tasks = 0;                   //!< that are compared
  std::vector<std::string> left_out = {};  //!< tasks of which some arm has no sample that counts
  std::vector<ArmScores> arms;
  std::vector<DifferenceScores> differences;
};

//! The number of each seed and task. Throws Error where there is none.
ScoreTable score_table(const ArmTrials& arm, const AblationMeasure& measure, double failure_reward);

//! All arms have the same seeds and tasks; a task that does not count in one of them counts in none. Throws Error where
//! no task is left.
AblationScores ablation_scores(std::vector<ArmTrials> arms, std::vector<std::uint64_t> seeds, double failure_reward,
                               const BootstrapOptions& options = {});

}  // namespace cudal1
