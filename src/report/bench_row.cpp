#include "report/bench_row.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/result.hpp"

namespace cudal1 {
namespace {

using nlohmann::json;

json or_null(const std::optional<int>& number) { return number ? json(*number) : json(nullptr); }

std::optional<int> number_or_none(const json& value) {
  return value.is_null() ? std::nullopt : std::optional(value.get<int>());
}

template <class Value>
Value value_or(const json& said, Value otherwise) {
  return said.is_null() ? otherwise : said.get<Value>();
}

//! To a nanosecond, which is more than any clock says.
double rounded_ms(double ms) { return std::round(ms * 1e6) / 1e6; }

json way_json(const WayTimes& way) {
  json result{{"way", way.way}};
  if (!way.why_not.empty()) result["why_not"] = way.why_not;
  if (way.device_ms.empty()) return result;
  json times = json::array();
  for (const double ms : way.device_ms) times.push_back(rounded_ms(ms));
  result.update({{"device_ms", times}, {"host_ms", rounded_ms(way.host_ms)}, {"make_seconds", way.make_seconds}});
  return result;
}

WayTimes way_from_json(const json& said) {
  WayTimes way;
  way.way = said.at("way").get<std::string>();
  way.why_not = said.value("why_not", "");
  way.device_ms = said.value("device_ms", std::vector<double>());
  way.host_ms = said.value("host_ms", 0.0);
  way.make_seconds = said.value("make_seconds", 0.0);
  return way;
}

}  // namespace

const WayTimes* BenchRow::find(const std::string& way) const {
  const auto found =
      std::ranges::find_if(ways, [&](const WayTimes& times) { return times.way == way && !times.device_ms.empty(); });
  return found == ways.end() ? nullptr : &*found;
}

bool BenchRow::has_times() const {
  return std::ranges::any_of(ways, [](const WayTimes& way) { return !way.device_ms.empty(); });
}

std::string BenchRow::label() const { return level ? fmt::format("level{}/{}", *level, name) : name; }

json to_json(const BenchRow& row) {
  json ways = json::array();
  for (const WayTimes& way : row.ways) ways.push_back(way_json(way));
  const auto if_known = [&](auto value) { return row.came_to_a_device() ? json(value) : json(nullptr); };
  return {{"suite", row.suite},
          {"level", or_null(row.level)},
          {"id", or_null(row.id)},
          {"name", row.name},
          {"key", row.key},
          {"program", row.program},
          {"sample", row.sample},
          {"status", row.status},
          {"error", row.error},
          {"own_kernels", if_known(row.own_kernels)},
          {"degenerate", if_known(row.degenerate)},
          {"predicted", if_known(row.predicted)},
          {"device", if_known(row.device)},
          {"ways", ways},
          {"seconds", row.seconds}};
}

BenchRow bench_row_from_json(const json& said) try {
  BenchRow row;
  row.suite = said.at("suite").get<std::string>();
  row.level = number_or_none(said.at("level"));
  row.id = number_or_none(said.at("id"));
  row.name = said.at("name").get<std::string>();
  row.key = said.at("key").get<std::string>();
  row.program = said.at("program").get<std::string>();
  row.sample = said.at("sample").get<int>();
  row.status = said.at("status").get<std::string>();
  row.error = said.at("error").get<std::string>();
  row.own_kernels = value_or(said.at("own_kernels"), false);
  row.degenerate = value_or(said.at("degenerate"), false);
  row.predicted = value_or(said.at("predicted"), false);
  row.device = value_or(said.at("device"), std::string());
  for (const auto& way : said.at("ways")) row.ways.push_back(way_from_json(way));
  row.seconds = said.at("seconds").get<double>();
  return row;
} catch (const nlohmann::json::exception& problem) {
  throw Error(fmt::format("this is no row of a bench: {}", problem.what()));
}

}  // namespace cudal1
