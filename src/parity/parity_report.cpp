#include "parity/parity_report.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/result.hpp"

namespace cudal1 {

using nlohmann::json;

json to_json(const ParityReport& report) {
  json made{{"ok", report.ok()}, {"nodes", report.nodes}, {"seconds", report.seconds}};
  if (!report.ok()) made["error"] = report.error;
  if (!report.budget_share) return made;
  made["budget_share"] = *report.budget_share;
  made["equal_bits"] = report.equal_bits;
  made["degenerate"] = report.degenerate;
  return made;
}

ParityReport parity_from_json(const std::string& text) try {
  const json given = json::parse(text);
  ParityReport report;
  report.error = given.value("error", "");
  report.nodes = given.at("nodes").get<int>();
  report.seconds = given.at("seconds").get<double>();
  if (given.contains("budget_share")) report.budget_share = given.at("budget_share").get<double>();
  report.equal_bits = given.value("equal_bits", false);
  report.degenerate = given.value("degenerate", false);
  return report;
} catch (const json::exception& problem) {
  throw Error(fmt::format("no report of a comparison: {}", problem.what()));
}

}  // namespace cudal1
