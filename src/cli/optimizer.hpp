// `optimize`: many tasks, each searched in a process of its own, several at once.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "cli/task_report.hpp"
#include "suite/suite.hpp"

namespace cudal1 {

struct OptimizerOptions {
  std::string device = "auto", gpu = "h200", policy = "search";
  std::vector<std::string> policy_arguments;    //!< what was said of policies, for the processes that search
  std::vector<std::string> policy_environment;  //!< variables that these have beside the few that all have
  int evaluations = 20;
  double minutes = 0.0;  //!< 0: as long as it takes
  std::filesystem::path output = "optimized", archive;
  std::uint64_t seed = 0;
  int jobs = 1;
  int at_once = 0;  //!< 0: as many as suits the device
  bool beside = true, explain = true;
  //! Whether searches are to end and report what they have. Asked from many threads.
  std::function<bool()> stop = [] { return false; };
};

//! A report for every task that was begun, in their order. Throws Error where there is no such device.
std::vector<TaskReport> optimize(const std::vector<SuiteTask>& tasks, const OptimizerOptions& options);

}  // namespace cudal1
