#include "suite/suite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "base/result.hpp"
#include "suite/suite_readers.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;

//! A result of another run must be found again: two tasks with one name in a level would share it.
void drop_duplicates(Suite& suite) {
  std::map<std::tuple<std::string, std::optional<int>, std::string>, std::string> seen;
  std::vector<SuiteTask> kept;
  for (SuiteTask& task : suite.tasks) {
    const auto [first, is_new] = seen.emplace(std::tuple(task.suite, task.level, task.name), task.place);
    if (is_new)
      kept.push_back(std::move(task));
    else
      suite.problems.push_back(
          fmt::format("{}: the task {} is there already, at {}", task.place, task.label(), first->second));
  }
  suite.tasks = std::move(kept);
}

void sort_tasks(std::vector<SuiteTask>& tasks) {
  std::ranges::stable_sort(tasks, [](const SuiteTask& a, const SuiteTask& b) {
    return std::tie(a.suite, a.level, a.id, a.name) < std::tie(b.suite, b.level, b.id, b.name);
  });
}

bool is_task_file(const fs::path& path) { return path.extension() == ".py" || path.filename() == "graph.json"; }

void read_any(const fs::path& path, Suite& suite) {
  std::error_code problem;
  const fs::file_status status = fs::status(path, problem);
  if (!fs::exists(status)) throw Error(fmt::format("{}: there is no such file or folder", path.string()));
  if (fs::is_directory(status))
    read_folder_suite(path, suite);
  else if (path.extension() == ".jsonl")
    read_jsonl_suite(path, suite);
  else if (is_task_file(path))
    suite.tasks.push_back(task_of_path(path, path.parent_path()));
  else
    throw Error(
        fmt::format("{}: no suite: a folder, a .jsonl file, a module (.py) or a graph.json is one", path.string()));
}

}  // namespace

std::string SuiteTask::label() const { return level ? fmt::format("level{}/{}", *level, name) : name; }

Suite read_suite(const fs::path& path) {
  Suite suite;
  read_any(path, suite);
  drop_duplicates(suite);
  sort_tasks(suite.tasks);
  return suite;
}

}  // namespace cudal1
