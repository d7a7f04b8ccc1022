// One task's program and its baselines, timed in rounds until their ratios are known well enough.
#pragma once

#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "bridge/module_worker.hpp"
#include "report/bench_row.hpp"

namespace cudal1 {

struct TimingLimits {
  double seconds = 1.0;  //!< of measuring, after which it ends
  //! Of the 95% intervals of ratios, relative; when all are as narrow, it ends as well. Results speak of eager and the
  //! best baseline.
  double half_width = 0.01, half_width_of_others = 0.03;
  int rounds_at_once = 21;
  int most_rounds = 700;
};

//! A process that has made the program and those baselines that it can make.
struct PreparedWorker {
  std::unique_ptr<ModuleWorker> worker;
  std::vector<WayTimes> ways;  //!< without times yet; why_not where one could not be made
  bool has(const std::string& way) const;
};

//! A package that is there.
std::shared_future<std::filesystem::path> known_package(std::filesystem::path package);

//! `package` may be empty: baselines only. One that is not known yet is waited for once the baselines are made. Throws
//! Error when the module, eager or the program does not run, or the program's package gives other results than eager
//! does.
void make_ways(PreparedWorker& prepared, const std::shared_future<std::filesystem::path>& package,
               const std::vector<std::string>& baselines);

//! The times of a program that somebody else measured beside eager: eager's times here, over those ratios. So what is
//! compared with eager, or through it with another baseline, are ratios that were each taken in one process.
void add_program_by_ratios(std::vector<WayTimes>& ways, const std::vector<double>& ratios);

//! Alone on the device. Fills the times anew. `ratios`: of a program that is not among the ways, as above. Gives the
//! reason why these times say no speed-up; empty where they do. Throws Error.
std::string time_ways(PreparedWorker& prepared, const std::vector<double>& ratios, const TimingLimits& limits,
                      Random& random);

}  // namespace cudal1
