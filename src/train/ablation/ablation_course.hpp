// An ablation from its first task to its last trial: for each seed stages 1 and 2 once, stage 3 for each arm that has
// one, and the same trial on unseen tasks for all arms and controls. It can be ended at any moment and gone on with.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "train/ablation/ablation_report.hpp"
#include "train/ablation/ablation_scores.hpp"
#include "train/ablation/trial_store.hpp"
#include "train/course/training_course.hpp"

namespace cudal1 {

//! What is compared.
struct AblationPlan {
  std::vector<AblationArm> arms;
  std::int64_t seeds = 3;  //!< run.seed of the configuration and those that follow it
};

struct AblationParts {
  //! The model before training, whose adapter begins as this seed says.
  std::function<std::unique_ptr<LearningModel>(std::uint64_t seed)> make_model;
  Assessor* assessor = nullptr;  //!< of all runs and trials
  std::span<const TrainingTask> train, validation, test;
  vgpu::GpuProfile gpu;
  std::string judged_on = {};     //!< what the assessor calls its GPU
  std::filesystem::path archive;  //!< of the assessor
  std::function<bool()> stop = [] { return false; };
  std::function<void(const std::string& line)> say = [](const std::string&) {};
  std::function<void(const StepReport& report)> step = [](const StepReport&) {};
  //! Hears of all seeds that are through, after each of them.
  std::function<void(const AblationScores& scores)> found = [](const AblationScores&) {};
  std::function<double()> seconds_since_1970 = [] { return 0.0; };
};

//! Throws UsageError for a configuration in which arms would not differ as they should.
void check_ablation(const TrainingConfig& config, const AblationPlan& plan);

//! The same for every arm but for what its prompts show.
TrialOptions ablation_trial(const TrainingConfig& config, const AblationArm& arm, std::uint64_t seed);

//! There is an ablation in this folder, not a run.
bool is_ablation(const std::filesystem::path& folder);

class Ablation {
 public:
  //! `folder` is the ablation's own, already made; configuration and parts must outlive this.
  Ablation(const TrainingConfig& config, AblationPlan plan, std::filesystem::path folder, AblationParts parts);

  //! Everything of all seeds. False: somebody asked to stop before the end; the same call goes on.
  bool run();

 private:
  struct Seed;
  bool run_seed(std::uint64_t number);
  //! Nothing: somebody asked to stop.
  std::optional<std::vector<TrialTask>> trial_of(Seed& seed, const AblationArm& arm);
  bool make_weights(Seed& seed, const AblationArm& arm);
  bool train(Seed& seed, const std::string& name, const TrainingConfig& config);
  bool train_first_stages(Seed& seed);
  bool train_contrastive(Seed& seed, const ContrastiveRun& run);
  TrainingConfig config_of(const Seed& seed) const;
  CourseParts parts_of(Seed& seed, const std::string& name);
  void report() const;

  const TrainingConfig& config_;
  AblationPlan plan_;
  std::filesystem::path folder_;
  AblationParts parts_;
  std::vector<ArmTrials> found_;      //!< by arm
  std::vector<std::uint64_t> seeds_;  //!< that are through
};

}  // namespace cudal1
