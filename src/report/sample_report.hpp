// Samples of a policy as tables and files: samples.csv, report.md.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "report/figures_table.hpp"
#include "report/sample_row.hpp"

namespace cudal1 {

//! pass@k by level and, of mixtures, by policy.
TextTable pass_table(const std::vector<SampleRow>& rows);
//! fast_p@k, a line for each p.
TextTable fast_p_at_table(const std::vector<SampleRow>& rows);
//! What answers held, how many tokens were read and written, and what that cost.
TextTable answers_table(const std::vector<SampleRow>& rows);
//! How often each status came.
TextTable statuses_table(const std::vector<SampleRow>& rows);
//! A line a task: how many samples were right, and the fastest.
TextTable sampled_tasks_table(const std::vector<SampleRow>& rows);

//! What tables do not say: predictions, degenerate tasks, samples that nobody gave. A line each; often none.
std::vector<std::string> sample_remarks(const std::vector<SampleRow>& rows);

//! All figures, as `bench --policy … --json` prints them.
nlohmann::json sample_summary_json(const std::vector<SampleRow>& rows);

//! Into the folder that holds samples.jsonl. `title`: what was sampled, for people. Throws Error.
void write_sample_report(const std::vector<SampleRow>& rows, const std::string& title,
                         const std::filesystem::path& folder);

}  // namespace cudal1
