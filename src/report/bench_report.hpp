// A bench as files: results.csv, eval_results.json, report.md and its plots.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "report/bench_row.hpp"

namespace cudal1 {

//! Into the folder that holds results.jsonl. `title`: what was measured, for people. Throws Error.
void write_bench_report(const std::vector<BenchRow>& rows, const std::string& title,
                        const std::filesystem::path& folder);

//! Figures per level and fast_p, as `bench --json` prints them.
nlohmann::json summary_json(const std::vector<BenchRow>& rows);

//! By suite, level, number and name.
void sort_rows(std::vector<BenchRow>& rows);

}  // namespace cudal1
