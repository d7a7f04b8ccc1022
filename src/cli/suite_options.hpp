// What the argument SUITE of a command may be, and the options that choose among its tasks.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "suite/selection.hpp"
#include "suite/task_pool.hpp"

namespace cudal1 {

struct SuiteOptions {
  std::filesystem::path path;
  std::string levels, ids, share;
  TaskSelection selection;
};

void add_suite_options(CLI::App& command, SuiteOptions& options);
//! Only those that choose among the tasks of `options.path`.
void add_selection_options(CLI::App& command, SuiteOptions& options);

//! Whether any of those was given.
bool chooses_among_tasks(const SuiteOptions& options);

//! The tasks that are chosen, and what could not be read of the suite.
struct ChosenTasks {
  std::vector<SuiteTask> tasks;
  std::vector<std::string> problems;
};

//! Reports what could not be read on standard error. Throws Error when no task is left, UsageError for a wrong option.
ChosenTasks choose_tasks(const SuiteOptions& options);

//! Which task it is: suite, level, id and name.
nlohmann::json identity_json(const SuiteTask& task);

//! As many jobs as there are cores, at most eight.
int default_jobs();
//! Of processes of which so many run at once.
int threads_of_each(int jobs);

}  // namespace cudal1
