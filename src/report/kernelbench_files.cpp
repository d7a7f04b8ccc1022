#include "report/kernelbench_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "report/csv.hpp"
#include "report/speedups.hpp"

namespace cudal1 {
namespace {

using nlohmann::json;

json stats_of(const std::vector<double>& ms) {
  const double count = static_cast<double>(ms.size());
  const double mean = std::accumulate(ms.begin(), ms.end(), 0.0) / count;
  double squares = 0.0;
  for (const double value : ms) squares += (value - mean) * (value - mean);
  return {{"mean", mean},
          {"std", std::sqrt(squares / count)},
          {"min", std::ranges::min(ms)},
          {"max", std::ranges::max(ms)},
          {"num_trials", ms.size()}};
}

//! Statuses that come before there is anything to run.
bool has_compiled(const BenchRow& row) {
  static const std::set<std::string> before{"parse_error", "plan_error", "compile_error", "compile_timeout",
                                            "forbidden",   "no_program", "no_task",       "failed"};
  return !before.contains(row.status);
}

//! Whether or not there is a speed-up: one that is unstable has none.
bool gives_right_results(const BenchRow& row) {
  const auto status = status_from_string(row.status);
  return status && is_correct(*status);
}

json metadata_of(const BenchRow& row) {
  json metadata{{"status", row.status}};
  if (row.came_to_a_device()) metadata.update({{"hardware", row.device}, {"predicted", row.predicted}});
  if (!row.error.empty()) metadata["error"] = row.error;
  return metadata;
}

std::string number(const std::optional<double>& value) { return value ? fmt::format("{:.6g}", *value) : ""; }

//! The speed-up, its 95% interval, and the 99.9% one.
void add_speedup(std::vector<std::string>& cells, const BenchRow& row, const std::string& against) {
  const auto timing = speedup_of(row, against);
  for (const auto part : {&TimingSummary::speedup, &TimingSummary::low, &TimingSummary::high})
    cells.push_back(timing ? fmt::format("{:.5g}", (*timing).*part) : "");
  const auto interval = cautious_interval(row, against);
  for (const auto part : {&Interval::low, &Interval::high})
    cells.push_back(interval ? fmt::format("{:.5g}", (*interval).*part) : "");
}

std::vector<std::string> csv_heading(const std::vector<std::string>& baselines) {
  std::vector<std::string> cells{"suite",  "level",       "id",         "name",      "program", "status",
                                 "device", "own_kernels", "degenerate", "predicted", "rounds",  "program_ms"};
  for (const std::string& baseline : baselines) cells.push_back(baseline + "_ms");
  std::vector<std::string> against = baselines;
  against.push_back(best_of_all);
  for (const std::string& name : against)
    for (const char* part : {"speedup", "low", "high", "cautious_low", "cautious_high"})
      cells.push_back(fmt::format("{}_{}", part, name));
  cells.insert(cells.end(), {"best_baseline", "error"});
  return cells;
}

std::string number_text(const std::optional<int>& value) { return value ? std::to_string(*value) : ""; }

std::string found_out(const BenchRow& row, bool value) { return !row.came_to_a_device() ? "" : value ? "1" : "0"; }

std::vector<std::string> csv_cells(const BenchRow& row, const std::vector<std::string>& baselines) {
  const WayTimes* program = row.find(program_way);
  std::vector<std::string> cells{row.suite,
                                 number_text(row.level),
                                 number_text(row.id),
                                 row.name,
                                 row.program,
                                 row.status,
                                 row.device,
                                 found_out(row, row.own_kernels),
                                 found_out(row, row.degenerate),
                                 found_out(row, row.predicted),
                                 std::to_string(program ? program->device_ms.size() : 0),
                                 number(median_ms(row, program_way))};
  for (const std::string& baseline : baselines) cells.push_back(number(median_ms(row, baseline)));
  for (const std::string& baseline : baselines) add_speedup(cells, row, baseline);
  add_speedup(cells, row, best_of_all);
  cells.insert(cells.end(), {best_baseline(row.ways).value_or(""), row.error});
  return cells;
}

}  // namespace

json eval_results(const std::vector<BenchRow>& rows) {
  json results = json::object();
  for (const BenchRow& row : rows) {
    if (!row.id) continue;
    const WayTimes* program = row.is_correct() ? row.find(program_way) : nullptr;
    const json stats = program ? stats_of(program->device_ms) : json::object();
    results[std::to_string(*row.id)].push_back({{"sample_id", row.sample},
                                                {"compiled", has_compiled(row)},
                                                {"correctness", gives_right_results(row)},
                                                {"metadata", metadata_of(row)},
                                                {"runtime", program ? stats.at("mean") : json(-1.0)},
                                                {"runtime_stats", stats}});
  }
  return results;
}

json baseline_times(const std::vector<BenchRow>& rows, const std::string& baseline) {
  json times = json::object();
  for (const BenchRow& row : rows)
    if (const WayTimes* way = row.find(baseline); way && row.level && !row.predicted)
      times[fmt::format("level{}", *row.level)][row.name + ".py"] = stats_of(way->device_ms);
  return times;
}

std::string results_csv(const std::vector<BenchRow>& rows) {
  const std::vector<std::string> baselines = baselines_of(rows);
  std::string text = csv_line(csv_heading(baselines));
  for (const BenchRow& row : rows) text += csv_line(csv_cells(row, baselines));
  return text;
}

}  // namespace cudal1
