// Where solutions come from: a Python file, a folder of KernelBench's runs, or lines of a JSONL file.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudal1 {

struct SolutionText {
  std::string name;              //!< for people: "relu.py", "runs.jsonl:12"
  std::string text;              //!< a Python module with `ModelNew`
  std::optional<int> level, id;  //!< of the task it is for, where the file says so
  std::string task;              //!< likewise, the task's name
};

//! A Python file, a JSONL file or a folder, as opposed to a program of our own.
bool holds_solutions(const std::filesystem::path& path);

struct SolutionFiles {
  std::vector<SolutionText> solutions;
  std::vector<std::string> problems;  //!< what could not be read: a line each, with the place
};

//! Files of a folder are called `level_L_problem_P_sample_S_kernel.py`; lines of a JSONL file have `custom_code`, and
//! perhaps `level` or `level_id`, `id` or `task_id` or `problem_id`, `name`. Throws Error when the path cannot be read.
SolutionFiles read_solutions(const std::filesystem::path& path);

//! Whether two names mean one task: the same, or one of them has no number ("ReLU" and "19_ReLU").
bool names_match(std::string_view one, std::string_view other);

//! Those for this task: whoever names no level, id or task is for any.
std::vector<SolutionText> solutions_for(const std::vector<SolutionText>& solutions, const std::optional<int>& level,
                                        const std::optional<int>& id, const std::string& task);

}  // namespace cudal1
