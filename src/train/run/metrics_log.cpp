#include "train/run/metrics_log.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string_view>

#include "base/between_commas.hpp"
#include "base/files.hpp"
#include "base/lines.hpp"
#include "base/result.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view first_columns = "stage,step";

std::vector<std::string> cells_of(std::string_view line) {
  const std::vector<std::string_view> cells = between_commas(line);
  return {cells.begin(), cells.end()};
}

//! A row that a kill cut short may lack cells, never have too many.
std::optional<CheckpointName> step_of(const std::vector<std::string>& cells) {
  if (cells.size() < 2) return std::nullopt;
  std::int64_t step = 0;
  const auto [end, problem] = std::from_chars(cells[1].data(), cells[1].data() + cells[1].size(), step);
  if (problem != std::errc() || end != cells[1].data() + cells[1].size()) return std::nullopt;
  return CheckpointName{cells[0], step};
}

}  // namespace

MetricsLog::MetricsLog(const fs::path& file, const std::optional<CheckpointName>& resumed) : file_(file) {
  struct stat info {};
  if (resumed && ::stat(file.c_str(), &info) == 0) {
    read();
    drop_after(*resumed);
  }
  write_anew();
}

void MetricsLog::read() {
  for_each_line(read_file(file_), [&](std::string_view line, int number) {
    std::vector<std::string> cells = cells_of(line);
    if (number == 1 && line != first_columns && !line.starts_with(std::string(first_columns) + ","))
      throw Error(fmt::format("{}: is no table of metrics; move it away", file_.string()));
    if (number == 1) {
      columns_.assign(cells.begin() + 2, cells.end());
      return;
    }
    const std::optional<CheckpointName> step = step_of(cells);
    if (step) rows_.push_back({*step, {std::next(cells.begin(), 2), cells.end()}});
  });
}

//! A checkpoint has the number of the first step that it does not have. Rows are in the order in which they were made:
//! what belongs to a later stage stands behind all of `last`'s.
void MetricsLog::drop_after(const CheckpointName& last) {
  const auto is_later = [&](const Row& row) { return row.step.stage == last.stage && row.step.step >= last.step; };
  auto end = std::ranges::find_if(rows_, is_later);
  const auto is_of_stage = [&](const Row& row) { return row.step.stage == last.stage; };
  const auto last_of_stage = std::find_if(rows_.rbegin(), rows_.rend(), is_of_stage);
  if (end == rows_.end() && last_of_stage != rows_.rend()) end = last_of_stage.base();
  rows_.erase(end, rows_.end());
}

bool MetricsLog::add_columns(const Metrics& metrics) {
  bool is_new = false;
  for (const auto& [name, value] : metrics) {
    if (std::ranges::find(columns_, name) != columns_.end()) continue;
    if (name.find_first_of(",\"\r\n") != std::string::npos || name.empty())
      throw Error(fmt::format("'{}' is no name for a column", name));
    columns_.push_back(name);
    is_new = true;
  }
  return is_new;
}

std::string MetricsLog::line_of(const Row& row) const {
  std::string line = fmt::format("{},{}", row.step.stage, row.step.step);
  for (std::size_t i = 0; i < columns_.size(); ++i) line += "," + (i < row.cells.size() ? row.cells[i] : std::string());
  return line;
}

void MetricsLog::write_anew() {
  std::string text(first_columns);
  for (const std::string& column : columns_) text += "," + column;
  text += "\n";
  for (const Row& row : rows_) text += line_of(row) + "\n";
  log_.reset();
  write_file_atomically(file_, text);
  log_ = std::make_unique<LineLog>(file_);
}

void MetricsLog::add(const CheckpointName& step, const Metrics& metrics) {
  const bool has_new_columns = add_columns(metrics);
  Row row{step, std::vector<std::string>(columns_.size())};
  for (const auto& [name, value] : metrics)
    row.cells[static_cast<std::size_t>(std::ranges::find(columns_, name) - columns_.begin())] =
        fmt::format("{}", value);
  rows_.push_back(std::move(row));
  if (has_new_columns)
    write_anew();
  else
    log_->append(line_of(rows_.back()));
}

}  // namespace cudal1
