// What all parts of training_bench have in common: a configuration, its tasks, its judges.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/training_parts.hpp"
#include "train/course/training_tasks.hpp"

namespace cudal1::bench {

inline constexpr int to_go_on = 3;  //!< exit code: somebody asked to stop, and the same command goes on

struct BenchOptions {
  std::filesystem::path config, archive;
  std::vector<std::string> settings;  //!< section.key=value
  std::size_t tasks = 0;              //!< the first ones; 0: all
};

//! Read once, before anything is started. Throws Error.
struct BenchSetting {
  explicit BenchSetting(const BenchOptions& options);

  std::vector<TrainingTask> tasks(TaskSplit split) const;
  AssessorPoolOptions judging() const;

  TrainingConfig config;
  JudgedOn on;
  std::filesystem::path archive;
  std::size_t most_tasks;
};

//! One line for whoever waits.
void tell(const std::string& line);

}  // namespace cudal1::bench
