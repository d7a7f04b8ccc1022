// Results in the forms that other tools read.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "report/bench_row.hpp"

namespace cudal1 {

//! KernelBench's eval_results.json: by problem number, a list of samples. Of one level, since numbers are the level's.
nlohmann::json eval_results(const std::vector<BenchRow>& rows_of_a_level);

//! KernelBench's timing files (results/timing/GPU/BASELINE.json): by level and file name.
//! Only what was measured: those who read them could not tell.
nlohmann::json baseline_times(const std::vector<BenchRow>& rows, const std::string& baseline);

//! A line a task, with a heading.
std::string results_csv(const std::vector<BenchRow>& rows);

}  // namespace cudal1
