#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>

#include "base/result.hpp"
#include "base/seconds_since.hpp"
#include "bridge/python_nursery.hpp"
#include "cli/commands.hpp"
#include "cli/generated_tasks.hpp"
#include "cli/printable.hpp"
#include "cli/progress.hpp"
#include "cli/suite_options.hpp"
#include "judge/judge.hpp"
#include "suite/task_export.hpp"

namespace cudal1 {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

// PyTorch and its exporter take under one; the rest is for the weights.
constexpr std::uint64_t bytes_per_export = std::uint64_t{3} << 30;

struct TasksOptions {
  SuiteOptions suite;
  GeneratedTasksOptions generation;
  fs::path export_to;
  int jobs = default_jobs();
  bool as_json = false;
};

//! What became of a task that was exported.
struct ExportRow {
  fs::path folder;
  std::string error;
  double seconds = 0.0;
};

//! A folder a task, apart by suite only where there are several.
fs::path target_of(const SuiteTask& task, const std::vector<SuiteTask>& all, const fs::path& folder) {
  const bool several = std::ranges::any_of(all, [&](const SuiteTask& other) { return other.suite != task.suite; });
  std::string name = task.name;
  std::ranges::replace(name, '/', '_');
  const fs::path level = task.level ? fmt::format("level{}", *task.level) : "";
  return (several ? folder / task.suite : folder) / level / name;
}

//! Throws Error where no command could read it: in the user's terms, not those of a file that we wrote ourselves.
void check_loadable(const SuiteTask& task, const TaskFolder& made) {
  try {
    load_task_with_metas(made.folder);
  } catch (const Error& problem) {
    const std::string file = graph_file(made.folder).string() + ": ";
    std::string reason = problem.what();
    if (made.module.empty()) throw;
    if (reason.starts_with(file)) reason.erase(0, file.size());
    const fs::path place = task.code.empty() ? made.module : fs::path(task.place);
    throw Error(fmt::format("{}: cannot become a task: {}", place.string(), reason));
  }
}

ExportRow export_one(const SuiteTask& task, const fs::path& target) {
  const auto begin = std::chrono::steady_clock::now();
  ExportRow row;
  try {
    const TaskFolder made = task_folder_of(task);
    check_loadable(task, made);
    copy_task(made.folder, target);
    row.folder = target;
  } catch (const std::exception& problem) {
    row.error = problem.what();
  }
  row.seconds = seconds_since(begin);
  return row;
}

std::vector<ExportRow> export_all(const std::vector<SuiteTask>& tasks, const TasksOptions& options) {
  const auto nursery = nursery_for(tasks.size(), threads_of_each(options.jobs));
  std::vector<ExportRow> rows(tasks.size());
  std::mutex mutex;
  std::size_t done = 0;
  run_jobs(tasks.size(), {options.jobs, bytes_per_export}, [&](std::size_t i) {
    const bool again = !rows[i].error.empty();
    rows[i] = export_one(tasks[i], target_of(tasks[i], tasks, options.export_to));
    const std::lock_guard lock(mutex);
    if (!again && says_short_of_memory(rows[i].error)) return JobEnd::short_of_memory;
    if (!rows[i].error.empty()) report_problem(rows[i].error);
    show_progress(++done, tasks.size(), tasks[i].label());
    return JobEnd::done;
  });
  clear_progress();
  return rows;
}

std::string number_text(const std::optional<int>& number) { return number ? std::to_string(*number) : ""; }

void print_list(const std::vector<SuiteTask>& tasks) {
  std::size_t width = 5;
  for (const SuiteTask& task : tasks) width = std::max(width, printable(task.suite).size());
  fmt::print("{:<{}}  {:>5}  {:>4}  {}\n", "suite", width, "level", "id", "name");
  for (const SuiteTask& task : tasks)
    fmt::print("{:<{}}  {:>5}  {:>4}  {}\n", printable(task.suite), width, number_text(task.level),
               number_text(task.id), printable(task.name));
}

json export_to_json(const ExportRow& row) {
  json made{{"seconds", row.seconds}};
  if (row.error.empty())
    made["folder"] = row.folder.string();
  else
    made["error"] = one_line(row.error);
  return made;
}

void print_json(const ChosenTasks& chosen, const std::vector<ExportRow>& rows) {
  json tasks = json::array();
  for (std::size_t i = 0; i < chosen.tasks.size(); ++i) {
    json task = identity_json(chosen.tasks[i]);
    task["place"] = chosen.tasks[i].place;
    if (!rows.empty()) task.update(export_to_json(rows[i]));
    tasks.push_back(std::move(task));
  }
  const json all{{"tasks", tasks}, {"problems", chosen.problems}};
  fmt::print("{}\n", all.dump(2, ' ', false, json::error_handler_t::replace));
}

int generate_tasks(const TasksOptions& options) {
  if (!options.suite.path.empty() || chooses_among_tasks(options.suite))
    throw UsageError("--generate makes tasks of its own: leave out the suite and what chooses among its tasks");
  return run_generation(options.generation, options.export_to, options.as_json);
}

int run_tasks(const TasksOptions& options) {
  if (options.generation.count > 0) return generate_tasks(options);
  if (options.suite.path.empty()) throw UsageError("path is required: a suite, unless tasks are made with --generate");
  const ChosenTasks chosen = choose_tasks(options.suite);
  std::vector<ExportRow> rows;
  if (!options.export_to.empty()) rows = export_all(chosen.tasks, options);
  const auto exported = std::ranges::count_if(rows, [](const ExportRow& row) { return row.error.empty(); });
  if (options.as_json)
    print_json(chosen, rows);
  else if (rows.empty())
    print_list(chosen.tasks);
  else
    fmt::print("{} of {} tasks exported to {}\n", exported, rows.size(), options.export_to.string());
  return !rows.empty() && exported == 0 ? 1 : 0;
}

}  // namespace

void add_tasks_command(CLI::App& app, CommandAction& action) {
  auto options = std::make_shared<TasksOptions>();
  CLI::App* command = app.add_subcommand(
      "tasks", "List the tasks of a suite, or export them as task folders; or generate some to train on");
  command->footer(
      "Example: cudal1 tasks KernelBench --level 1 --id 1-20\n         cudal1 tasks my_modules --export tasks\n"
      "         cudal1 tasks --generate 400 --seed 1 --split-of train --export generated");
  add_suite_options(*command, options->suite);
  command->get_option("path")->required(false);
  add_generation_options(*command, options->generation);
  command->add_option("--export", options->export_to, "Make a task folder of each in this folder");
  command->add_option("--jobs", options->jobs, "Exports at once; fewer where memory is short")
      ->check(CLI::Range(1, 256));
  command->add_flag("--json", options->as_json, "One JSON object on standard output");
  command->callback([options, &action] { action = [options] { return run_tasks(*options); }; });
}

}  // namespace cudal1
