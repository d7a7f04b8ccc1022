// Stage 1: the model learns the format from programs that were right, whatever their speed.
#pragma once

#include <cstdint>
#include <span>

#include "train/data/training_example.hpp"
#include "train/rollout/learning_model.hpp"
#include "train/run/training_config.hpp"

namespace cudal1 {

struct SupervisedStep {
  std::int64_t step = 0;
  double learning_rate = 0.0;
  SupervisedUpdate update;
  double seconds = 0.0;
};

class SupervisedStage {
 public:
  //! Model and examples must outlive this. Throws Error where there is no example.
  SupervisedStage(const SupervisedSettings& settings, std::uint64_t seed, LearningModel& model,
                  std::span<const TrainingExample> examples);

  SupervisedStep step();
  std::int64_t steps() const { return steps_; }
  std::int64_t steps_done() const { return steps_done_; }
  void go_on_from(std::int64_t steps_done) { steps_done_ = steps_done; }
  bool is_over() const { return steps_done_ >= steps_; }

 private:
  SupervisedSettings settings_;
  std::uint64_t seed_;
  LearningModel& model_;
  std::span<const TrainingExample> examples_;
  std::int64_t steps_ = 0, steps_done_ = 0;
};

//! So many of the examples whose turn it is.
std::vector<PromptAndAnswer> pairs_of_step(std::span<const TrainingExample> examples, std::int64_t count,
                                           std::int64_t step, std::uint64_t seed);

}  // namespace cudal1
