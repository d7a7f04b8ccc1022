// What `optimize` has found, as users would run it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/task_report.hpp"
#include "suite/suite.hpp"

namespace cudal1 {

struct PackageTimingOptions {
  std::string device, gpu;       //!< "cuda" or "vgpu"; whose times the virtual one predicts
  std::filesystem::path folder;  //!< for rows and report
  int jobs = 1;
  std::uint64_t seed = 0;
};

//! The packages in Python, and PyTorch's own ways, timed in turn; a report for each task. Whatever fails here costs no
//! result: it is put down in the reports, or told.
void time_beside_pytorch(const std::vector<SuiteTask>& tasks, std::vector<TaskReport>& reports,
                         const PackageTimingOptions& options);

}  // namespace cudal1
