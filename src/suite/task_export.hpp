// The tasks of a suite as task folders.
#pragma once

#include <filesystem>

#include "suite/suite.hpp"

namespace cudal1 {

//! Where a task lies once it can be run.
struct TaskFolder {
  std::filesystem::path folder;  //!< with graph.json
  std::filesystem::path module;  //!< the Python file that it was made from; empty for a native task
};

//! Exports the module, unless that was done before; a native task lies ready. Throws Error: one line with the place.
TaskFolder task_folder_of(const SuiteTask& task);

//! The module that a task was made from: the bridge leaves its source in the folder. Empty for a native task, one that
//! was generated included.
std::filesystem::path module_of(const TaskFolder& task);

//! Copies a task folder. A task that lies there already is replaced; anything else stays, and Error is thrown.
void copy_task(const std::filesystem::path& folder, const std::filesystem::path& target);

}  // namespace cudal1
