// A task that solutions in Python can be judged for: one that was made from a PyTorch module.
#pragma once

#include <filesystem>
#include <string>

#include "graph/task.hpp"

namespace cudal1 {

struct SolutionTask {
  Task task;                     //!< with its metas
  std::filesystem::path module;  //!< the Python file with the reference, `Model`
  std::string interface_text;    //!< interface.json: how the module is constructed and called
};

//! `task` has its metas; `module` may be empty, the text beside the task is the reference then. Throws Error in one
//! line where the task was made by hand, or draws random numbers.
SolutionTask make_solution_task(Task task, std::filesystem::path module);

//! A module or the folder of a task that was made from one. Throws Error.
SolutionTask load_solution_task(const std::filesystem::path& argument);

}  // namespace cudal1
