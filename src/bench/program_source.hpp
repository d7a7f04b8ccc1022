// Which program is measured for a task.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "dialect/solution_files.hpp"
#include "suite/suite.hpp"

namespace cudal1 {

struct ProgramChoice {
  std::filesystem::path file;     //!< empty: none of its own
  std::filesystem::path archive;  //!< not empty: the best on record there
  int sample = 0;
  std::string solution, origin;  //!< a text in Python, from a line of a file, which `origin` names
  bool is_solution() const { return !origin.empty(); }
  //! KernelBench's dialect, not ours; what is on record is ours.
  bool is_in_python() const { return is_solution() || file.extension() == ".py"; }
  //! None of these: the empty program, all of it library ops.
  bool is_empty() const { return file.empty() && archive.empty() && !is_solution(); }
};

class ProgramSource {
 public:
  //! The empty program for each task.
  ProgramSource() = default;
  static ProgramSource best_on_record(const std::filesystem::path& archive);
  //! Files called like the task, with or without its number, or as KernelBench calls them
  //! (level_1_problem_19_sample_0_kernel.py); of several samples the first. Throws Error when there is no such folder,
  //! or no program in it.
  static ProgramSource folder(const std::filesystem::path& folder);

  //! Lines with "custom_code", which name their task by level and id, or by its name; of several the first. Lines that
  //! cannot be read are in `problems`. Throws Error when the file cannot be read, or has none.
  static ProgramSource lines(const std::filesystem::path& file, std::vector<std::string>& problems);

  //! Lines whose name, without a number, fits several of these tasks are for none of them: each becomes a problem.
  void drop_ambiguous_lines(const std::vector<SuiteTask>& tasks, std::vector<std::string>& problems);

  //! Nothing where there is none for it.
  std::optional<ProgramChoice> program_for(const SuiteTask& task) const;

 private:
  std::optional<ProgramChoice> line_for(const SuiteTask& task) const;

  std::filesystem::path archive_;
  bool in_folder_ = false, in_lines_ = false;
  std::vector<SolutionText> solutions_;
  std::map<std::string, std::filesystem::path> by_name_;                           // without suffix
  std::map<std::pair<int, int>, std::map<int, std::filesystem::path>> by_number_;  // level and problem: by sample
};

}  // namespace cudal1
