#include "cli/suite_options.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "cli/progress.hpp"

namespace cudal1 {

void add_suite_options(CLI::App& command, SuiteOptions& options) {
  command
      .add_option("path", options.path,  // not "suite": later versions of CLI11 take that for the option below
                  "A KernelBench checkout, a .jsonl file, a folder of modules or task folders, or one task")
      ->required();
  add_selection_options(command, options);
}

void add_selection_options(CLI::App& command, SuiteOptions& options) {
  TaskSelection& selection = options.selection;
  command.add_option("--suite", selection.suites, "Of a file with several suites, these")->delimiter(',');
  command.add_option("--level", options.levels, "Levels, such as 1 or 1-3");
  command.add_option("--id", options.ids, "Numbers, such as 2,4-10");
  command.add_option("--name", selection.names, "Names, with or without their number")->delimiter(',');
  command.add_option("--glob", selection.globs, "Patterns of names: '*_Conv*', 'level2/*ReLU*'")->take_all();
  command.add_option(
      "--split", options.share,
      "Shares of several: 2/4 is the second of four, 1,3-4/8 are three of eight, by the hash of the name");
}

bool chooses_among_tasks(const SuiteOptions& options) {
  const TaskSelection& selection = options.selection;
  return !options.levels.empty() || !options.ids.empty() || !options.share.empty() || !selection.suites.empty() ||
         !selection.names.empty() || !selection.globs.empty();
}

ChosenTasks choose_tasks(const SuiteOptions& options) {
  TaskSelection selection = options.selection;
  if (!options.levels.empty()) selection.levels = NumberList(options.levels);
  if (!options.ids.empty()) selection.ids = NumberList(options.ids);
  if (!options.share.empty()) selection.share = SuiteShare::parse(options.share);
  const Suite suite = read_suite(options.path);
  for (const std::string& problem : suite.problems) report_problem(problem);
  return {select_tasks(suite, selection, options.path), suite.problems};
}

nlohmann::json identity_json(const SuiteTask& task) {
  const auto number_or_null = [](const std::optional<int>& number) {
    return number ? nlohmann::json(*number) : nlohmann::json(nullptr);
  };
  return {{"suite", task.suite},
          {"level", number_or_null(task.level)},
          {"id", number_or_null(task.id)},
          {"name", task.name}};
}

int default_jobs() { return static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1u, 8u)); }

int threads_of_each(int jobs) {
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()) / std::max(1, jobs));
}

}  // namespace cudal1
