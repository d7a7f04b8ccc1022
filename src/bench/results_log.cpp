#include "bench/results_log.hpp"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "base/files.hpp"
#include "base/result.hpp"

namespace cudal1 {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

using RowIdentity = std::tuple<std::string, int, std::string, int>;

RowIdentity identity_of(const BenchRow& row) { return {row.suite, row.level.value_or(-1), row.name, row.sample}; }

void read_into(std::map<RowIdentity, BenchRow>& rows, const fs::path& file) {
  const std::string text = read_file(file);
  int line_number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    ++line_number;
    const json parsed = json::parse(line, nullptr, false);
    if (parsed.is_discarded()) continue;  // cut short
    try {
      const BenchRow row = bench_row_from_json(parsed);
      rows[identity_of(row)] = row;
    } catch (const Error& problem) {
      throw Error(fmt::format("{}:{}: {}", file.string(), line_number, problem.what()));
    }
  }
}

std::vector<BenchRow> values_of(const std::map<RowIdentity, BenchRow>& rows) {
  std::vector<BenchRow> values;
  for (const auto& [identity, row] : rows) values.push_back(row);
  return values;
}

void require_one_device(const std::vector<BenchRow>& rows) {
  const BenchRow* first = nullptr;
  for (const BenchRow& row : rows) {
    if (row.ways.empty()) continue;  // nothing was timed
    if (first && first->device != row.device)
      throw Error(fmt::format("these are results of different devices: {} on {}, {} on {}", first->label(),
                              first->device, row.label(), row.device));
    first = &row;
  }
}

}  // namespace

std::vector<BenchRow> read_results(const fs::path& file) {
  std::error_code problem;
  if (!fs::exists(file, problem)) return {};
  return merged_results({file});
}

std::vector<BenchRow> merged_results(const std::vector<fs::path>& files) {
  std::map<RowIdentity, BenchRow> rows;
  for (const fs::path& file : files) read_into(rows, file);
  std::vector<BenchRow> merged = values_of(rows);
  if (files.size() > 1) require_one_device(merged);
  return merged;
}

void ResultsLog::append(const BenchRow& row) {
  log_.append(to_json(row).dump(-1, ' ', false, json::error_handler_t::replace));
}

}  // namespace cudal1
