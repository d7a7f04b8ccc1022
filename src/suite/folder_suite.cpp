#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "base/files.hpp"
#include "base/result.hpp"
#include "bridge/module_task.hpp"
#include "suite/suite_readers.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_source_bytes = std::size_t{64} << 20;

//! 3 of "level3".
std::optional<int> level_in(const std::string& folder) {
  constexpr std::string_view prefix = "level";
  if (!folder.starts_with(prefix)) return std::nullopt;
  const std::string rest = folder.substr(prefix.size());
  const std::optional<int> level = leading_number(rest);
  return level && rest == std::to_string(*level) ? level : std::nullopt;
}

bool has_levels(const fs::path& folder) {
  std::error_code problem;
  for (int level = 1; level <= 4; ++level)
    if (fs::is_directory(folder / fmt::format("level{}", level), problem)) return true;
  return false;
}

//! A checkout has scripts, solutions and tests beside the benchmark.
fs::path benchmark_in(const fs::path& folder) {
  return has_levels(folder / "KernelBench") ? folder / "KernelBench" : folder;
}

bool is_hidden(const fs::path& path, const fs::path& root) {
  const fs::path below = path.lexically_relative(root);
  return std::ranges::any_of(below, [](const fs::path& part) {
    return part.string().starts_with('.') || part == "__pycache__" || part == "__init__.py";
  });
}

//! Modules import helpers from beside them; those are no tasks. A file that has one of both is a task, if a broken one.
bool looks_like_a_task(const std::string& source) {
  return source.find("class Model") != std::string::npos || source.find("def get_inputs") != std::string::npos;
}

fs::path resolved(const fs::path& folder) {
  const fs::path absolute = fs::absolute(folder.empty() ? "." : folder).lexically_normal();
  return absolute.has_filename() ? absolute : absolute.parent_path();
}

std::set<fs::path> task_folders(const std::vector<fs::path>& files) {
  std::set<fs::path> folders;
  for (const fs::path& file : files)
    if (file.filename() == "graph.json") folders.insert(file.parent_path());
  return folders;
}

}  // namespace

std::optional<int> leading_number(const std::string& name) {
  int number = 0;
  const auto [rest, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  return error == std::errc() && rest != name.data() && number >= 0 ? std::optional(number) : std::nullopt;
}

SuiteTask task_of_path(const fs::path& path, const fs::path& root) {
  const bool is_graph = path.filename() == "graph.json";
  SuiteTask task;
  task.path = is_graph ? path.parent_path() : path;
  task.name = is_module_file(path) ? path.stem().string() : resolved(task.path).filename().string();
  task.id = leading_number(task.name);
  task.suite = resolved(root).filename().string();
  task.place = path.string();
  for (const fs::path& part : resolved(task.path).parent_path())
    if (const auto level = level_in(part.string())) task.level = level;
  return task;
}

void read_folder_suite(const fs::path& folder, Suite& suite) {
  const fs::path root = benchmark_in(folder);
  const std::vector<fs::path> files = files_below(root);
  const std::set<fs::path> folders = task_folders(files);
  for (const fs::path& file : files) {
    if (is_hidden(file, root)) continue;
    if (folders.contains(file.parent_path())) {  // whatever else lies there is part of that task
      if (file.filename() == "graph.json") suite.tasks.push_back(task_of_path(file, root));
      continue;
    }
    if (!is_module_file(file)) continue;
    try {
      if (looks_like_a_task(read_file(file, max_source_bytes))) suite.tasks.push_back(task_of_path(file, root));
    } catch (const Error& problem) {
      suite.problems.emplace_back(problem.what());
    }
  }
}

}  // namespace cudal1
