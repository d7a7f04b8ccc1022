// `optimize`: searches of many tasks, and what they found beside what PyTorch itself can do.
#pragma once

#include <filesystem>
#include <vector>

#include "cli/search_pool.hpp"

namespace cudal1 {

struct OptimizerOptions {
  SearchPoolOptions pool;
  std::filesystem::path archive;
  bool beside = true, explain = true;
};

//! A report for every task that was begun, in their order. Throws Error where there is no such device.
std::vector<TaskReport> optimize(const std::vector<SuiteTask>& tasks, const OptimizerOptions& options);

}  // namespace cudal1
