#include "train/report/metrics_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "base/between_commas.hpp"
#include "base/files.hpp"
#include "base/lines.hpp"
#include "base/result.hpp"

namespace cudal1 {
namespace {

std::vector<std::string> cells_of(std::string_view line) {
  const std::vector<std::string_view> cells = between_commas(line);
  return {cells.begin(), cells.end()};
}

std::optional<double> number_of(const std::string& cell) {
  double value = 0.0;
  const auto [end, problem] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (problem != std::errc() || end != cell.data() + cell.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

}  // namespace

MetricsTable MetricsTable::read(const std::filesystem::path& file) {
  if (!std::filesystem::exists(file)) return {};
  return parse(read_file(file), file.string());
}

MetricsTable MetricsTable::parse(std::string_view text, const std::string& origin) {
  MetricsTable table;
  for_each_line(text, [&](std::string_view line, int number) {
    std::vector<std::string> cells = cells_of(line);
    if (number == 1 && (cells.size() < 2 || cells[0] != "stage" || cells[1] != "step"))
      throw Error(fmt::format("{}: is no table of a run's metrics", origin));
    if (number == 1) {
      table.columns_.assign(cells.begin() + 2, cells.end());
      return;
    }
    const std::optional<double> step = cells.size() < 2 ? std::nullopt : number_of(cells[1]);
    if (step) table.rows_.push_back({cells[0], *step + 1.0, {cells.begin() + 2, cells.end()}});
  });
  return table;
}

std::vector<ChartPoint> MetricsTable::curve(std::string_view stage, std::string_view name) const {
  std::vector<ChartPoint> points;
  const auto column = static_cast<std::size_t>(std::ranges::find(columns_, name) - columns_.begin());
  if (column == columns_.size()) return points;
  for (const Row& row : rows_) {
    if (row.stage != stage || column >= row.cells.size()) continue;
    if (const auto value = number_of(row.cells[column])) points.push_back({row.step, *value});
  }
  return points;
}

double MetricsTable::sum(std::string_view stage, std::string_view name) const {
  double sum = 0.0;
  for (const ChartPoint& point : curve(stage, name)) sum += point.y;
  return sum;
}

std::size_t MetricsTable::steps(std::string_view stage) const {
  return static_cast<std::size_t>(std::ranges::count(rows_, stage, &Row::stage));
}

}  // namespace cudal1
