// How much faster a task's program is than a baseline, from the rounds in which both were timed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "judge/timing_statistics.hpp"
#include "report/bench_row.hpp"

namespace cudal1 {

//! The baseline with the shortest time of each task: the one that counts.
inline constexpr const char* best_of_all = "best";

//! The baselines that any of the rows was run with, in their order.
std::vector<std::string> baselines_of(const std::vector<BenchRow>& rows);

//! Nothing where no baseline was run.
std::optional<std::string> best_baseline(const std::vector<WayTimes>& ways);

//! The program's, by the judge's statistics on paired ratios. `against`: a baseline, or `best_of_all`. Nothing where
//! the program is not correct, or one of the two was not run.
std::optional<TimingSummary> speedup_of(const BenchRow& row, const std::string& against);

//! Why these times say no speed-up: by the judge's rule, the program's against eager or against the best baseline
//! varies too much from one stretch of rounds to the next. Empty where it does not.
std::string why_unstable(const std::vector<WayTimes>& ways);

//! Where the speed-up lies with 99.9% confidence.
std::optional<Interval> cautious_interval(const BenchRow& row, const std::string& against);

//! Of a way that was run; nothing else.
std::optional<double> median_ms(const BenchRow& row, const std::string& way);

}  // namespace cudal1
