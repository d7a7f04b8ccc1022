// Speed-ups as a picture (SVG), readable on light and dark pages.
#pragma once

#include <string>
#include <vector>

#include "report/bench_row.hpp"

namespace cudal1 {

//! A bar a task, sorted, on a logarithmic axis with its interval; those with own kernels stand out. `against`: a
//! baseline or "best". Empty text if there is nothing to show.
std::string speedup_plot(const std::vector<BenchRow>& rows, const std::string& against, const std::string& title);

}  // namespace cudal1
