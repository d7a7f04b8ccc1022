// Generated tasks with their metas, as training has them.
#pragma once

#include "graph/executor.hpp"
#include "policy/search/reference_time.hpp"
#include "tasks/generated_task.hpp"
#include "train/training_task.hpp"

namespace cudal1::testing {

inline TrainingTask training_task_of(const GeneratedTask& generated) {
  TrainingTask made{generated.family, parse_task(generated.graph_json, "")};
  infer_metas(made.task);
  return made;
}

inline std::vector<TrainingTask> training_tasks(std::size_t count, std::uint64_t seed, TimeBounds bounds = {}) {
  const vgpu::GpuProfile gpu = vgpu::find_profile("h200");
  GenerationOptions options;
  options.count = count;
  options.seed = seed;
  options.accept = [&](const GeneratedTask& task) {
    return is_expected_within(gpu, training_task_of(task).task.graph, bounds);
  };
  std::vector<TrainingTask> tasks;
  for (const GeneratedTask& task : generate_tasks(options)) tasks.push_back(training_task_of(task));
  return tasks;
}

}  // namespace cudal1::testing
