#include "report/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "report/speedups.hpp"

namespace cudal1 {
namespace {

std::vector<BenchRow> not_degenerate(const std::vector<BenchRow>& rows) {
  std::vector<BenchRow> kept;
  std::ranges::copy_if(rows, std::back_inserter(kept), [](const BenchRow& row) { return !row.degenerate; });
  return kept;
}

std::vector<double> speedups(const std::vector<BenchRow>& rows, const std::string& against) {
  std::vector<double> values;
  for (const BenchRow& row : rows)
    if (const auto timing = speedup_of(row, against)) values.push_back(timing->speedup);
  return values;
}

int count_above(const std::vector<double>& values, double limit) {
  return static_cast<int>(std::ranges::count_if(values, [&](double value) { return value > limit; }));
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double geometric_mean(const std::vector<double>& values) {
  double logarithms = 0.0;
  for (const double value : values) logarithms += std::log(value);
  return std::exp(logarithms / static_cast<double>(values.size()));
}

}  // namespace

double quantile(std::vector<double> values, double share) {
  std::ranges::sort(values);
  const double place = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(place));
  const std::size_t above = std::min(below + 1, values.size() - 1);
  const double part = place - std::floor(place);
  return (1.0 - part) * values[below] + part * values[above];
}

Figures figures_of(const std::vector<BenchRow>& all, const std::string& against) {
  const std::vector<BenchRow> rows = not_degenerate(all);
  const std::vector<double> values = speedups(rows, against);
  Figures figures;
  figures.tasks = static_cast<int>(rows.size());
  figures.successes = static_cast<int>(values.size());
  if (values.empty()) return figures;
  figures.faster = count_above(values, faster_from);
  figures.mean = mean(values);
  figures.geometric_mean = geometric_mean(values);
  figures.lower_quartile = quantile(values, 0.25);
  figures.median = quantile(values, 0.5);
  figures.upper_quartile = quantile(values, 0.75);
  figures.maximum = std::ranges::max(values);
  return figures;
}

double fast_p(const std::vector<BenchRow>& all, const std::string& against, double p) {
  const std::vector<BenchRow> rows = not_degenerate(all);
  if (rows.empty()) return 0.0;
  return static_cast<double>(count_above(speedups(rows, against), p)) / static_cast<double>(rows.size());
}

std::vector<RowGroup> groups_by_level(const std::vector<BenchRow>& all) {
  std::map<std::string, std::vector<BenchRow>> levels;
  const std::vector<BenchRow> rows = not_degenerate(all);
  for (const BenchRow& row : rows) levels[row.level ? fmt::format("level {}", *row.level) : "no level"].push_back(row);
  std::vector<RowGroup> groups;
  for (const auto& [name, members] : levels) groups.push_back({name, members});
  if (groups.size() != 1) groups.push_back({"all", rows});
  return groups;
}

std::vector<RowGroup> groups_by_kind_of_program(const std::vector<BenchRow>& all) {
  RowGroup own{"own kernels", {}}, library{"library ops only", {}};
  for (const BenchRow& row : not_degenerate(all))
    if (row.is_correct()) (row.own_kernels ? own : library).rows.push_back(row);
  return {own, library};
}

}  // namespace cudal1
