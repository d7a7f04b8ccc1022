#include "train/course/training_tasks.hpp"

#include "graph/executor.hpp"
#include "policy/search/reference_time.hpp"

namespace cudal1 {
namespace {

TrainingTask training_task(const GeneratedTask& generated) {
  TrainingTask made{generated.family, parse_task(generated.graph_json, "")};
  infer_metas(made.task);
  return made;
}

std::int64_t count_of(TaskSplit split, const TaskSettings& settings) {
  switch (split) {
    case TaskSplit::train:
      return settings.train;
    case TaskSplit::validation:
      return settings.validation;
    case TaskSplit::test:
      break;
  }
  return settings.test;
}

}  // namespace

std::vector<TrainingTask> make_tasks(TaskSplit split, const TaskSettings& settings, const vgpu::GpuProfile& gpu) {
  const TimeBounds bounds{settings.reference_us_low, settings.reference_us_high};
  GenerationOptions options;
  options.count = static_cast<std::size_t>(count_of(split, settings));
  options.seed = settings.seed;
  if (settings.difficulty >= 0.0) options.difficulty = settings.difficulty;
  options.split = split;
  options.families = settings.families;
  options.accept = [&](const GeneratedTask& task) {
    return is_expected_within(gpu, training_task(task).task.graph, bounds);
  };
  std::vector<TrainingTask> tasks;
  for (const GeneratedTask& generated : generate_tasks(options)) tasks.push_back(training_task(generated));
  return tasks;
}

}  // namespace cudal1
