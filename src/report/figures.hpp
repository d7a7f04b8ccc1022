// Many tasks in a few numbers.
#pragma once

#include <string>
#include <vector>

#include "report/bench_row.hpp"

namespace cudal1 {

//! What counts as faster: anything below is noise.
inline constexpr double faster_from = 1.01;

struct Figures {
  int tasks = 0;      //!< degenerate ones apart
  int successes = 0;  //!< with a correct program that was timed beside this baseline
  int faster = 0;     //!< of the successes, above faster_from
  //! Over the successes; 0 if there are none.
  double mean = 0.0, geometric_mean = 0.0, lower_quartile = 0.0, median = 0.0, upper_quartile = 0.0, maximum = 0.0;
  double faster_share() const { return tasks > 0 ? static_cast<double>(faster) / tasks : 0.0; }
};

Figures figures_of(const std::vector<BenchRow>& rows, const std::string& against);

//! KernelBench's: the share of tasks that are both correct and more than p times as fast.
double fast_p(const std::vector<BenchRow>& rows, const std::string& against, double p);

inline constexpr double fast_p_limits[] = {0.0, 0.5, 0.8, 1.0, 1.5, 2.0};

//! Between the values where no value lies at that place; `values` may not be empty.
double quantile(std::vector<double> values, double share);

//! Rows of one level, or what else is looked at together.
struct RowGroup {
  std::string name;  //!< "level 1", "all", "own kernels"
  std::vector<BenchRow> rows;
};

//! Degenerate tasks are in none of them.
std::vector<RowGroup> groups_by_level(const std::vector<BenchRow>& rows);  //!< and "all" where there are several
std::vector<RowGroup> groups_by_kind_of_program(
    const std::vector<BenchRow>& rows);  //!< of correct ones: whose kernels?

}  // namespace cudal1
