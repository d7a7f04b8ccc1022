#include "cli/generated_tasks.hpp"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "base/result.hpp"
#include "graph/executor.hpp"
#include "policy/search/reference_time.hpp"
#include "tasks/generated_task.hpp"

namespace cudal1 {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

struct TimedTask {
  GeneratedTask task;
  double expected_us = 0.0;
};

TimeBounds bounds_of(const GeneratedTasksOptions& options) {
  const auto [low, high] = options.reference_us;
  if (!(low >= 0.0 && low < high)) throw UsageError("--reference-us: expected two numbers, the smaller one first");
  return {low, high};
}

double expected_us(const vgpu::GpuProfile& gpu, const GeneratedTask& generated) {
  Task task = parse_task(generated.graph_json, "");
  infer_metas(task);
  return expected_reference_us(gpu, task.graph);
}

std::vector<TimedTask> generate(const GeneratedTasksOptions& options) {
  const vgpu::GpuProfile gpu = vgpu::find_profile(options.gpu);
  const TimeBounds bounds = bounds_of(options);
  std::map<std::string, double> times_us;
  GenerationOptions generation;
  generation.count = options.count;
  generation.seed = options.seed;
  generation.difficulty = options.difficulty;
  generation.split = task_split_from_string(options.split);
  generation.accept = [&](const GeneratedTask& task) {
    const double us = times_us[task.hash] = expected_us(gpu, task);
    return bounds.low_us <= us && us <= bounds.high_us;
  };
  std::vector<TimedTask> made;
  for (GeneratedTask& task : generate_tasks(generation)) made.push_back({std::move(task), 0.0});
  for (TimedTask& timed : made) timed.expected_us = times_us[timed.task.hash];
  return made;
}

json to_json(const TimedTask& timed, const fs::path& folder) {
  const GeneratedTask& task = timed.task;
  json made{{"name", task.name},
            {"family", task.family},
            {"hash", task.hash},
            {"split", std::string(to_string(task.split))},
            {"difficulty", task.difficulty},
            {"nodes", task.nodes},
            {"expected_reference_us", timed.expected_us}};
  if (!folder.empty()) made["folder"] = (folder / task.name).string();
  return made;
}

void print_json(const GeneratedTasksOptions& options, const std::vector<TimedTask>& tasks, const fs::path& folder) {
  json rows = json::array();
  for (const TimedTask& timed : tasks) rows.push_back(to_json(timed, folder));
  fmt::print("{}\n", json{{"seed", options.seed}, {"tasks", rows}}.dump(2));
}

void print_list(const std::vector<TimedTask>& tasks) {
  fmt::print("{:<26}  {:<10}  {:>10}  {:>5}  {:>12}\n", "name", "split", "difficulty", "nodes", "reference us");
  for (const TimedTask& timed : tasks)
    fmt::print("{:<26}  {:<10}  {:>10.2f}  {:>5}  {:>12.1f}\n", timed.task.name, to_string(timed.task.split),
               timed.task.difficulty, timed.task.nodes, timed.expected_us);
}

}  // namespace

void add_generation_options(CLI::App& command, GeneratedTasksOptions& options) {
  CLI::Option* generate =
      command.add_option("--generate", options.count, "Instead of a suite: so many random tasks to train on")
          ->check(CLI::Range(1, 1000000));
  const auto add = [&](CLI::Option* option) { option->needs(generate); };
  add(command.add_option("--seed", options.seed, "Of --generate: the same seed gives the same tasks (default: 1)"));
  add(command
          .add_option("--difficulty", options.difficulty,
                      "Of --generate: 0 (few nodes, plain sizes) to 1; without it every task draws its own")
          ->check(CLI::Range(0.0, 1.0)));
  add(command.add_option("--split-of", options.split, "Of --generate: only tasks to train, validate or test with")
          ->check(CLI::IsMember({"train", "validation", "test"})));
  add(command.add_option(
      "--reference-us", options.reference_us,
      "Of --generate: how long references may be expected to take, in microseconds (default: 15 200)"));
  add(command.add_option("--gpu", options.gpu, "Of --generate: on which GPU, by name or file (default: h200)"));
}

int run_generation(const GeneratedTasksOptions& options, const fs::path& folder, bool as_json) {
  const std::vector<TimedTask> tasks = generate(options);
  if (!folder.empty())
    for (const TimedTask& timed : tasks) write_generated_task(timed.task, folder);
  if (as_json)
    print_json(options, tasks, folder);
  else if (folder.empty())
    print_list(tasks);
  else
    fmt::print("{} tasks written to {} (seed {})\n", tasks.size(), folder.string(), options.seed);
  return 0;
}

}  // namespace cudal1
