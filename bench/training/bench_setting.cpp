#include "bench_setting.hpp"

#include <fmt/format.h>

#include <cstdio>

namespace cudal1::bench {
namespace {

TrainingConfig config_of(const BenchOptions& options) {
  TrainingConfig config = options.config.empty() ? TrainingConfig{} : load_training_config(options.config);
  for (const std::string& setting : options.settings) set_training_option(config, setting);
  check(config);
  return config;
}

}  // namespace

BenchSetting::BenchSetting(const BenchOptions& options)
    : config(config_of(options)), on(judged_on(config.judge)), archive(options.archive), most_tasks(options.tasks) {}

std::vector<TrainingTask> BenchSetting::tasks(TaskSplit split) const {
  std::vector<TrainingTask> made = make_tasks(split, config.tasks, on.gpu);
  if (most_tasks > 0 && most_tasks < made.size()) made.resize(most_tasks);
  return made;
}

//! The archive is the one that was named here, whatever the configuration says.
AssessorPoolOptions BenchSetting::judging() const {
  AssessorPoolOptions made = judge_options(config, on, archive);
  made.setting.archive = archive;
  made.report = tell;
  return made;
}

void tell(const std::string& line) { fmt::print(stderr, "{}\n", line); }

}  // namespace cudal1::bench
