// What runs and ablations are made of on this machine: a model, judges, and somebody who watches.
#pragma once

#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>

#include "cli/judging_options.hpp"
#include "train/rollout/learning_model.hpp"
#include "train/run/progress_line.hpp"
#include "train/run/run_history.hpp"
#include "train/run/training_config.hpp"

namespace cudal1 {

//! Nothing of it stays with this process: judges have processes of their own. Throws Error.
JudgedOn judged_on(const JudgeSettings& settings);

//! Will the model be there? Throws Error where the settings demand a GPU that cannot be used.
bool is_on_gpu(const ModelSettings& settings);

//! In as many processes as the configuration says. Throws Error, and UsageError for more than there are GPUs.
std::unique_ptr<LearningModel> model_to_train(const TrainingConfig& config);

double seconds_since_1970();

//! Now, on this machine. Throws Error.
RunStart start_of(const TrainingConfig& config, const JudgedOn& on, const std::string& command);

//! Standard error: a line of progress, and lines that stay.
class TrainingWatcher {
 public:
  void say(const std::string& line);
  void show(const StepReport& report);
  void clear() { progress_.clear(); }
  //! These must not outlive this.
  std::function<void(const std::string& line)> sayer() {
    return [this](const std::string& line) { say(line); };
  }
  std::function<void(const StepReport& report)> shower() {
    return [this](const StepReport& report) { show(report); };
  }

 private:
  ProgressLine progress_{stderr};
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace cudal1
