#include "report/figures_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "report/figures.hpp"
#include "report/speedups.hpp"

namespace cudal1 {
namespace {

std::vector<std::string> opponents(const std::vector<BenchRow>& rows) {
  std::vector<std::string> names = baselines_of(rows);
  names.push_back(best_of_all);  // also where nothing was run: none of so many is a figure
  return names;
}

//! As many columns as a terminal shows, whatever bytes they have.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string padded(const std::string& text, std::size_t width, bool to_the_right) {
  const std::string space(width - std::min(width, width_of(text)), ' ');
  return to_the_right ? space + text : text + space;
}

//! A bar in a cell would begin the next one.
std::string escaped_cell(std::string text) {
  for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) text.insert(at, 1, '\\');
  return text;
}

std::vector<std::string> figures_cells(const Figures& figures) {
  std::vector<std::string> cells{std::to_string(figures.tasks), std::to_string(figures.successes)};
  const double numbers[] = {figures.mean,   figures.geometric_mean, figures.lower_quartile,
                            figures.median, figures.upper_quartile, figures.maximum};
  for (const double number : numbers) cells.push_back(figures.successes > 0 ? fmt::format("{:.3f}", number) : "-");
  cells.push_back(figures.tasks > 0 ? fmt::format("{:.0f}%", 100.0 * figures.faster_share()) : "-");
  return cells;
}

std::string ms_text(const std::optional<double>& ms) { return ms ? fmt::format("{:.4f}", *ms) : "-"; }

std::string speedup_text(const std::optional<TimingSummary>& timing) {
  return timing ? fmt::format("{:.3f}", timing->speedup) : "-";
}

}  // namespace

std::string TextTable::plain() const {
  std::vector<std::size_t> widths;
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i >= widths.size()) widths.push_back(0);
      widths[i] = std::max(widths[i], width_of(row[i]));
    }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i)
      line.append(padded(row[i], widths[i], i >= first_number)).append(2, ' ');
    text.append(line, 0, line.find_last_not_of(' ') + 1).push_back('\n');
  }
  return text;
}

std::string TextTable::markdown() const {
  std::string text;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    text.push_back('|');
    for (const std::string& cell : rows[i]) text.append(fmt::format(" {} |", escaped_cell(cell)));
    text.push_back('\n');
    if (i > 0) continue;
    text.push_back('|');
    for (std::size_t column = 0; column < rows[i].size(); ++column)
      text.append(column < first_number ? "---|" : "---:|");
    text.push_back('\n');
  }
  return text;
}

TextTable figures_table(const std::vector<BenchRow>& rows) {
  TextTable table{{{"tasks of", "against", "tasks", "ok", "mean", "geo. mean", "25%", "median", "75%", "max",
                    fmt::format("> {:.2f}x", faster_from)}},
                  2};
  const auto add = [&](const RowGroup& group) {
    for (const std::string& against : opponents(rows)) {
      std::vector<std::string> line{group.name, against};
      std::ranges::copy(figures_cells(figures_of(group.rows, against)), std::back_inserter(line));
      table.rows.push_back(std::move(line));
    }
  };
  for (const RowGroup& group : groups_by_level(rows)) add(group);
  for (const RowGroup& group : groups_by_kind_of_program(rows))
    if (!group.rows.empty()) add(group);
  return table;
}

TextTable fast_p_table(const std::vector<BenchRow>& rows) {
  TextTable table{{{"fast_p", "against"}}, 2};
  for (const double p : fast_p_limits) table.rows.front().push_back(fmt::format("p = {}", p));
  for (const RowGroup& group : groups_by_level(rows))
    for (const std::string& against : opponents(rows)) {
      std::vector<std::string> line{group.name, against};
      for (const double p : fast_p_limits)
        line.push_back(group.rows.empty() ? "-" : fmt::format("{:.3f}", fast_p(group.rows, against, p)));
      table.rows.push_back(std::move(line));
    }
  return table;
}

TextTable task_table(const std::vector<BenchRow>& rows) {
  const std::vector<std::string> baselines = baselines_of(rows);
  TextTable table{{{"task", "status", "program ms"}}, 2};
  for (const std::string& baseline : baselines) table.rows.front().push_back(baseline + " ms");
  for (const char* heading : {"x eager", "x best", "best baseline"}) table.rows.front().push_back(heading);
  for (const BenchRow& row : rows) {
    std::vector<std::string> line{row.label(), row.degenerate ? row.status + ", degenerate" : row.status,
                                  ms_text(median_ms(row, program_way))};
    for (const std::string& baseline : baselines) line.push_back(ms_text(median_ms(row, baseline)));
    line.push_back(speedup_text(speedup_of(row, "eager")));
    line.push_back(speedup_text(speedup_of(row, best_of_all)));
    line.push_back(best_baseline(row.ways).value_or("-"));
    table.rows.push_back(std::move(line));
  }
  return table;
}

std::vector<std::string> remarks(const std::vector<BenchRow>& rows) {
  std::vector<std::string> lines;
  const auto count = [&](auto test) { return std::ranges::count_if(rows, test); };
  if (const auto predicted = count([](const BenchRow& row) { return row.predicted && row.has_times(); }); predicted > 0)
    lines.push_back(fmt::format("times of {} tasks are predicted by a model, not measured", predicted));
  if (const auto degenerate = count([](const BenchRow& row) { return row.degenerate; }); degenerate > 0)
    lines.push_back(fmt::format("{} degenerate tasks (outputs do not depend on inputs) are left out", degenerate));
  std::map<std::string, int> statuses;
  for (const BenchRow& row : rows)
    if (!row.is_correct()) ++statuses[row.status];
  for (const auto& [status, times] : statuses) lines.push_back(fmt::format("{} tasks: {}", times, status));
  std::map<std::string, int> missing;
  for (const BenchRow& row : rows)
    for (const WayTimes& way : row.ways)
      if (way.device_ms.empty() && !way.why_not.empty()) ++missing[fmt::format("{}: {}", way.way, way.why_not)];
  for (const auto& [reason, times] : missing) lines.push_back(fmt::format("not run for {} tasks: {}", times, reason));
  return lines;
}

}  // namespace cudal1
