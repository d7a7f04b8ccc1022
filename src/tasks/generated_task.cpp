#include "tasks/generated_task.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <set>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "base/result.hpp"
#include "graph/task.hpp"
#include "tasks/module_graph.hpp"
#include "tasks/module_text.hpp"
#include "tasks/nameless_form.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 3> split_names{"train", "validation", "test"};
constexpr unsigned train_percent = 74, validation_percent = 8;
// Families whose tasks are refused this often in a row have no further ones.
constexpr int most_attempts = 5000;

//! The seed of one attempt; attempts do not depend on each other.
Random random_of(std::uint64_t seed, std::uint64_t attempt) {
  Random of_seed(seed), of_attempt(attempt);
  return Random(of_seed.next() ^ of_attempt.next());
}

class Generation {
 public:
  explicit Generation(const GenerationOptions& options) : options_(options) {}

  GeneratedTask next(const ModuleFamily& family) {
    for (int attempts = 0; attempts < most_attempts; ++attempts) {
      Random random = random_of(options_.seed, attempt_++);
      const double own = random.uniform();
      GeneratedTask task = generate_task(family, Choices(random, options_.difficulty.value_or(own)));
      if (is_wanted(task)) return task;
    }
    throw Error(fmt::format("no further {} task in {} attempts: ask for fewer, another difficulty or other bounds",
                            family.name, most_attempts));
  }

 private:
  bool is_wanted(const GeneratedTask& task) {
    if (options_.split && task.split != *options_.split) return false;
    if (!seen_.insert(task.hash).second) return false;
    return !options_.accept || options_.accept(task);
  }

  const GenerationOptions& options_;
  std::uint64_t attempt_ = 0;
  std::set<std::string> seen_;
};

}  // namespace

std::string_view to_string(TaskSplit split) { return split_names[static_cast<std::size_t>(split)]; }

std::optional<TaskSplit> task_split_from_string(std::string_view name) {
  for (const TaskSplit split : {TaskSplit::train, TaskSplit::validation, TaskSplit::test})
    if (to_string(split) == name) return split;
  return std::nullopt;
}

TaskSplit split_of_hash(std::string_view hash) {
  std::uint32_t number = 0;
  std::from_chars(hash.data(), hash.data() + std::min<std::size_t>(8, hash.size()), number, 16);
  const unsigned percent = number % 100;
  if (percent < train_percent) return TaskSplit::train;
  return percent < train_percent + validation_percent ? TaskSplit::validation : TaskSplit::test;
}

GeneratedTask generate_task(const ModuleFamily& family, Choices choices) {
  GeneratedTask task;
  task.family = family.name;
  task.difficulty = choices.difficulty();
  const Module module = family.describe(choices);
  task.hash = sha256_hex(nameless_form(parse_task(graph_text(module, "generated", ""), "")));
  task.split = split_of_hash(task.hash);
  task.name = fmt::format("{}_{}", family.name, task.hash.substr(0, 12));
  task.nodes = module.node_count();
  task.graph_json = graph_text(module, task.name, std::string(family.description));
  task.module_text = python_text(module);
  return task;
}

namespace {

std::vector<ModuleFamily> wanted_families(const std::vector<std::string>& names) {
  const auto all = module_families();
  if (names.empty()) return {all.begin(), all.end()};
  std::vector<ModuleFamily> wanted;
  for (const std::string& name : names) {
    const auto found = std::ranges::find(all, name, &ModuleFamily::name);
    if (found == all.end()) throw Error(fmt::format("there is no family of tasks '{}'", name));
    wanted.push_back(*found);
  }
  return wanted;
}

}  // namespace

std::vector<GeneratedTask> generate_tasks(const GenerationOptions& options) {
  Generation generation(options);
  std::vector<GeneratedTask> tasks;
  const std::vector<ModuleFamily> families = wanted_families(options.families);
  while (tasks.size() < options.count) tasks.push_back(generation.next(families[tasks.size() % families.size()]));
  return tasks;
}

fs::path write_generated_task(const GeneratedTask& task, const fs::path& folder) {
  const fs::path target = folder / task.name;
  std::error_code problem;
  if (fs::exists(target, problem) && !fs::exists(target / "graph.json", problem))
    throw Error(fmt::format("{}: is there already, and no task", target.string()));
  fs::create_directories(target, problem);
  if (problem) throw Error(fmt::format("{}: {}", target.string(), problem.message()));
  write_file_atomically(target / "source.py", task.module_text);
  write_file_atomically(target / "graph.json", task.graph_json);
  return target;
}

}  // namespace cudal1
