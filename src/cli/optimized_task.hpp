// What a search of `optimize` has found for its task: the best program, its parts, its package.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/policy_record.hpp"
#include "cli/task_report.hpp"
#include "graph/task.hpp"
#include "optimize/part_effects.hpp"
#include "optimize/search_run.hpp"
#include "suite/task_export.hpp"

namespace cudal1 {

struct OptimizedTask {
  std::string name, error;    //!< an error, and nothing else is there
  int evaluations = 0;        //!< all that this search has had, earlier runs included
  int judged = 0, right = 0;  //!< by this run
  double seconds = 0.0;
  bool stopped = false, exhausted = false;
  bool wants_another_process = false;
  std::optional<JudgedProgram> best;
  std::string why_none;  //!< of the first program that is not right, where none is
  std::vector<PartEffect> effects;
  std::optional<double> replaced;  //!< share of the reference's time
  std::filesystem::path program, package;
  std::string why_no_package;
  std::vector<PolicyRecord> models;  //!< what language models did
};

//! Writes the best program, and a package of it where there is a module, into `folder`. What stands in the way of a
//! package is put down in the task.
void write_best(OptimizedTask& task, const Task& graph, const TaskFolder& source, const std::filesystem::path& folder);

TaskReport report_of(const OptimizedTask& task);

}  // namespace cudal1
