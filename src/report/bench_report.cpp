#include "report/bench_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "base/files.hpp"
#include "base/result.hpp"
#include "report/figures.hpp"
#include "report/figures_table.hpp"
#include "report/kernelbench_files.hpp"
#include "report/markdown.hpp"
#include "report/speedup_plot.hpp"
#include "report/speedups.hpp"

namespace cudal1 {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

std::string as_text(const json& value) {
  std::string text = value.dump(1, ' ', false, json::error_handler_t::replace);
  text.push_back('\n');
  return text;
}

//! One level: beside the other files, as KernelBench's scripts expect it. Several: a folder each, since their numbers
//! are the same.
void write_kernelbench_files(const std::vector<BenchRow>& rows, const fs::path& folder) {
  std::map<std::optional<int>, std::vector<BenchRow>> levels;
  for (const BenchRow& row : rows) levels[row.level].push_back(row);
  for (const auto& [level, members] : levels) {
    const fs::path place = levels.size() > 1 && level ? folder / fmt::format("level{}", *level) : folder;
    fs::create_directories(place);
    write_file_atomically(place / "eval_results.json", as_text(eval_results(members)));
  }
  for (const std::string& baseline : baselines_of(rows)) {
    const json times = baseline_times(rows, baseline);
    if (times.empty()) continue;
    fs::create_directories(folder / "timing");
    write_file_atomically(folder / "timing" / fmt::format("{}.json", baseline), as_text(times));
  }
}

//! "level 1" -> "speedups_level_1.svg"
std::string plot_file(std::string group) {
  std::ranges::replace(group, ' ', '_');
  return fmt::format("speedups_{}.svg", group);
}

std::string plots(const std::vector<BenchRow>& rows, const fs::path& folder) {
  std::string text;
  for (const RowGroup& group : groups_by_level(rows)) {
    const std::string title = fmt::format("{}: speed-up against the best baseline of each task", group.name);
    const std::string picture = speedup_plot(group.rows, best_of_all, title);
    if (picture.empty()) continue;
    write_file_atomically(folder / plot_file(group.name), picture);
    text += fmt::format("![{}]({})\n\n", title, plot_file(group.name));
  }
  return text;
}

std::string failures(const std::vector<BenchRow>& rows) {
  std::string text;
  for (const BenchRow& row : rows)
    if (!row.error.empty())
      text +=
          fmt::format("- `{}`: {}: `{}`\n", quoted_in_markdown(row.label()), row.status, quoted_in_markdown(row.error));
  return text.empty() ? text : fmt::format("## What failed\n\n{}\n", text);
}

constexpr const char* definitions =
    "Speed-ups are paired: in every round the program and all baselines are called once, in random order, on the same "
    "new inputs, with flushed caches; the judge's statistics (docs/evaluator.md) are taken over the rounds' ratios. "
    "*best* is the fastest baseline of each task. Means, quartiles and the maximum are over tasks with a correct, "
    "timed "
    "program; shares and fast_p over all tasks that are not degenerate.\n\n";

std::string report_text(const std::vector<BenchRow>& rows, const std::string& title, const fs::path& folder) {
  std::string text = fmt::format("# {}\n\n", title);
  for (const std::string& remark : remarks(rows)) text += fmt::format("- {}\n", quoted_in_markdown(remark));
  text += fmt::format("\n{}## Speed-ups\n\n{}{}\n", plots(rows, folder), definitions, figures_table(rows).markdown());
  text += fmt::format("## fast_p\n\nThe share of tasks that are correct and more than p times as fast.\n\n{}\n",
                      fast_p_table(rows).markdown());
  return fmt::format("{}{}## Tasks\n\n{}", text, failures(rows), task_table(rows).markdown());
}

json or_null(bool is_known, double value) { return is_known ? json(value) : json(nullptr); }

json figures_json(const Figures& figures) {
  const auto if_any = [&](double value) { return or_null(figures.successes > 0, value); };
  return {{"tasks", figures.tasks},
          {"successes", figures.successes},
          {"mean", if_any(figures.mean)},
          {"geometric_mean", if_any(figures.geometric_mean)},
          {"lower_quartile", if_any(figures.lower_quartile)},
          {"median", if_any(figures.median)},
          {"upper_quartile", if_any(figures.upper_quartile)},
          {"maximum", if_any(figures.maximum)},
          {"faster_share", or_null(figures.tasks > 0, figures.faster_share())}};
}

json group_json(const RowGroup& group, const std::vector<std::string>& opponents) {
  json result{{"tasks_of", group.name}};
  for (const std::string& against : opponents) {
    const Figures numbers = figures_of(group.rows, against);
    json figures = figures_json(numbers);
    for (const double p : fast_p_limits)
      figures["fast_p"][fmt::format("{}", p)] = or_null(numbers.tasks > 0, fast_p(group.rows, against, p));
    result["against"][against] = figures;
  }
  return result;
}

}  // namespace

void sort_rows(std::vector<BenchRow>& rows) {
  std::ranges::stable_sort(rows, {}, [](const BenchRow& row) {
    return std::tuple(row.suite, row.level.value_or(-1), row.id.value_or(-1), row.name, row.sample);
  });
}

json summary_json(const std::vector<BenchRow>& rows) {
  std::vector<std::string> opponents = baselines_of(rows);
  opponents.push_back(best_of_all);
  json groups = json::array();
  for (const RowGroup& group : groups_by_level(rows)) groups.push_back(group_json(group, opponents));
  for (const RowGroup& group : groups_by_kind_of_program(rows)) groups.push_back(group_json(group, opponents));
  return groups;
}

void write_bench_report(const std::vector<BenchRow>& rows, const std::string& title, const fs::path& folder) try {
  write_file_atomically(folder / "results.csv", results_csv(rows));
  write_kernelbench_files(rows, folder);
  write_file_atomically(folder / "report.md", report_text(rows, title, folder));
} catch (const fs::filesystem_error& problem) {
  throw Error(fmt::format("{}: {}", folder.string(), problem.code().message()));
}

}  // namespace cudal1
