// A training run from its first task to its last checkpoint: data, then the stages one after the other, each of which
// can be ended at any moment and gone on with.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "judge/gpu_idle.hpp"
#include "train/assess/assessor.hpp"
#include "train/course/policy_trial.hpp"
#include "train/course/step_metrics.hpp"
#include "train/course/variant_store.hpp"
#include "train/data/training_prompt.hpp"
#include "train/rollout/learning_model.hpp"
#include "train/run/checkpoint.hpp"
#include "train/run/hack_watch.hpp"
#include "train/run/metrics_log.hpp"
#include "train/run/progress_line.hpp"
#include "train/run/run_folder.hpp"
#include "train/run/run_history.hpp"

namespace cudal1 {

//! How a stage ended, and what the model could do then.
struct StageEnd {
  std::string stage;
  std::int64_t steps = 0;
  std::string why_stopped = {};           //!< before its last step: a collapse; empty: it is through
  bool is_broken = false;                 //!< its weights give no numbers any more: they can neither write nor learn
  std::optional<TrialFigures> validated;  //!< on tasks that it did not learn from; nothing: not in this start
};

struct CourseEnd {
  std::vector<StageEnd> stages;
  bool stopped = false;  //!< somebody asked to; the same command goes on from there
};

//! What a course is made of and who looks on.
struct CourseParts {
  LearningModel* model = nullptr;
  Assessor* assessor = nullptr;
  std::span<const TrainingTask> train, validation;
  vgpu::GpuProfile gpu;
  std::string judged_on = {};  //!< what the assessor calls its GPU
  std::function<bool()> stop = [] { return false; };
  std::function<void(const std::string& line)> say = [](const std::string&) {};
  std::function<void(const StepReport& report)> step = [](const StepReport&) {};
  std::function<double()> seconds_since_1970 = [] { return 0.0; };
  //! What the GPU did since the last call; asked as stage 3 begins and after each of its steps. Nothing: nobody knows.
  std::function<std::optional<GpuIdle>()> gpu_idle = [] { return std::nullopt; };
};

class TrainingCourse {
 public:
  //! All must outlive this.
  TrainingCourse(const TrainingConfig& config, RunFolder& folder, CourseParts parts);

  CourseEnd run();

 private:
  //! One that steps and keeps: what all stages have in common.
  struct Steps;
  struct Ending;
  class Log;

  bool prepare_data();
  void choose_contrastive_tasks();
  bool is_wanted(const std::string& stage) const;
  StageEnd run_stage(std::size_t index);
  StageEnd run_supervised();
  StageEnd run_self_supervised();
  StageEnd run_contrastive();
  StageEnd run_steps(const Steps& steps);
  StageEnd through(std::size_t index);
  std::size_t resumed_index() const;
  bool is_through(std::size_t index) const;
  bool still_stopped() const;
  void keep(const Steps& steps, const Ending& ending);
  void begin_or_go_on(const std::string& stage);
  std::filesystem::path first_adapter_of(const std::string& stage) const;
  void validate_end(StageEnd& end);
  std::optional<TrialFigures> validate(const std::string& stage, std::int64_t step);
  void add_run_best(StepNumbers& numbers);
  std::vector<TrainingExample> examples() const;

  const TrainingConfig& config_;
  RunFolder& folder_;
  RunHistory history_;
  CourseParts parts_;
  VariantStore variants_;
  std::vector<TrainingExample> examples_;
  std::vector<TrainingTask> contrastive_tasks_;
  TrainingPromptOptions asked_;
  TaskGrammar grammar_;
  std::optional<Checkpoint> resumed_;  //!< from which the next stage goes on
  double best_speedup_ = 0.0;          //!< of the run so far; 0: no success
  MetricsLog metrics_;
};

}  // namespace cudal1
