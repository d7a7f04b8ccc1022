#include "suite/task_export.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "base/result.hpp"
#include "bridge/module_task.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;

void make_folder(const fs::path& folder) {
  std::error_code problem;
  fs::create_directories(folder, problem);
  if (problem) throw Error(fmt::format("{}: {}", folder.string(), problem.message()));
}

//! Any name makes a file's name: slashes and dots in front must not lead elsewhere.
std::string file_name_of(std::string name) {
  constexpr std::size_t longest = 120;
  std::ranges::replace_if(
      name, [](unsigned char c) { return c == '/' || std::iscntrl(c); }, '_');
  if (name.starts_with('.')) name.front() = '_';
  return name.substr(0, longest);
}

//! The bridge reads files, and a message about a line needs one to point at.
fs::path write_module(const SuiteTask& task) {
  const fs::path folder = cache_directory() / "modules" / sha256_hex(task.code).substr(0, 16);
  const fs::path file = folder / fmt::format("{}.py", file_name_of(task.name));
  std::error_code problem;
  if (fs::exists(file, problem) && read_file(file) == task.code) return file;
  make_folder(folder);
  write_file_atomically(file, task.code);
  return file;
}

void copy_files(const fs::path& folder, const fs::path& target) {
  for (const fs::path& file : files_below(folder)) {
    const fs::path copy = target / file.lexically_relative(folder);
    std::error_code problem;
    make_folder(copy.parent_path());
    fs::copy_file(file, copy, problem);
    if (problem) throw Error(fmt::format("{}: {}", copy.string(), problem.message()));
  }
}

}  // namespace

TaskFolder task_folder_of(const SuiteTask& task) {
  if (!task.code.empty()) {
    const fs::path module = write_module(task);
    return {task_of_module(module), module};
  }
  if (is_module_file(task.path)) return {task_of_module(task.path), task.path};
  return {task.path, {}};
}

fs::path module_of(const TaskFolder& task) {
  if (!task.module.empty()) return task.module;
  std::error_code problem;
  // A text without the bridge's interface, as generated tasks have it, comes with weights that are not the module's.
  const bool is_exported = fs::exists(task.folder / "interface.json", problem);
  return is_exported && fs::exists(task.folder / "source.py", problem) ? task.folder / "source.py" : fs::path();
}

void copy_task(const fs::path& folder, const fs::path& target) {
  std::error_code problem;
  if (fs::exists(target, problem) && !fs::exists(target / "graph.json", problem))
    throw Error(fmt::format("{}: is there already, and no task", target.string()));
  make_folder(target.parent_path());
  const fs::path made = target.parent_path() / fmt::format(".{}.{}", target.filename().string(), getpid());
  remove_folder(made);
  try {
    copy_files(folder, made);
    remove_folder(target);
    fs::rename(made, target);
  } catch (const fs::filesystem_error& error) {
    remove_folder(made);
    throw Error(fmt::format("{}: {}", target.string(), error.code().message()));
  } catch (...) {
    remove_folder(made);
    throw;
  }
}

}  // namespace cudal1
