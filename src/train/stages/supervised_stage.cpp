#include "train/stages/supervised_stage.hpp"

#include <algorithm>
#include <chrono>

#include "base/result.hpp"
#include "base/seconds_since.hpp"
#include "train/learning_rate.hpp"
#include "train/stages/turns.hpp"

namespace cudal1 {

std::vector<PromptAndAnswer> pairs_of_step(std::span<const TrainingExample> examples, std::int64_t count,
                                           std::int64_t step, std::uint64_t seed) {
  std::vector<PromptAndAnswer> pairs;
  for (const std::size_t i : turns_of_step(examples.size(), static_cast<std::size_t>(count), step, seed))
    pairs.push_back({examples[i].prompt, examples[i].completion});
  return pairs;
}

SupervisedStage::SupervisedStage(const SupervisedSettings& settings, std::uint64_t seed, LearningModel& model,
                                 std::span<const TrainingExample> examples)
    : settings_(settings), seed_(seed), model_(model), examples_(examples) {
  if (examples.empty()) throw Error("there is no example to learn from");
  const auto all = static_cast<std::int64_t>(examples.size()) * settings.epochs;
  steps_ = std::max<std::int64_t>(1, (all + settings.batch - 1) / settings.batch);
}

SupervisedStep SupervisedStage::step() {
  const auto begin = std::chrono::steady_clock::now();
  SupervisedStep made{.step = steps_done_};
  made.learning_rate = cosine_learning_rate({.peak = settings_.learning_rate,
                                             .warm_up_steps = std::min(settings_.warm_up_steps, steps_ / 4),
                                             .steps = steps_},
                                            steps_done_);
  made.update = model_.learn(pairs_of_step(examples_, settings_.batch, steps_done_, seed_), made.learning_rate);
  made.seconds = seconds_since(begin);
  ++steps_done_;
  return made;
}

}  // namespace cudal1
