// Which program is measured for a task.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "suite/suite.hpp"

namespace cudal1 {

struct ProgramChoice {
  std::filesystem::path file;     //!< empty: none of its own
  std::filesystem::path archive;  //!< not empty: the best on record there
  int sample = 0;
  //! Neither: the empty program, all of it library ops.
  bool is_empty() const { return file.empty() && archive.empty(); }
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

  //! Nothing where the folder has none for it.
  std::optional<ProgramChoice> program_for(const SuiteTask& task) const;

 private:
  std::filesystem::path archive_;
  bool in_folder_ = false;
  std::map<std::string, std::filesystem::path> by_name_;                           // without suffix
  std::map<std::pair<int, int>, std::map<int, std::filesystem::path>> by_number_;  // level and problem: by sample
};

}  // namespace cudal1
