#include "train/course/task_set.hpp"

#include "graph/executor.hpp"
#include "policy/search/reference_time.hpp"
#include "tasks/generated_task.hpp"

namespace cudal1 {
namespace {

TrainingTask training_task(const GeneratedTask& generated) {
  TrainingTask made{generated.family, parse_task(generated.graph_json, "")};
  infer_metas(made.task);
  return made;
}

std::vector<TrainingTask> tasks_of(TaskSplit split, std::int64_t count, const TaskSettings& settings,
                                   const vgpu::GpuProfile& gpu) {
  const TimeBounds bounds{settings.reference_us_low, settings.reference_us_high};
  GenerationOptions options;
  options.count = static_cast<std::size_t>(count);
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

}  // namespace

TaskSet make_task_set(const TaskSettings& settings, const vgpu::GpuProfile& gpu) {
  return {tasks_of(TaskSplit::train, settings.train, settings, gpu),
          tasks_of(TaskSplit::validation, settings.validation, settings, gpu),
          tasks_of(TaskSplit::test, settings.test, settings, gpu)};
}

}  // namespace cudal1
