#include "runner/protocol.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace cudal1::protocol {
namespace {

constexpr std::size_t longest_message = 2000, longest_details = std::size_t{65} << 10;
constexpr std::size_t most_steps = 1'000'000;

std::string printable(std::string text) {
  text.resize(std::min(text.size(), longest_message));
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  return text;
}

//! Several lines, for people: nothing that moves a terminal's cursor.
std::string printable_lines(std::string text) {
  text.resize(std::min(text.size(), longest_details));
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return (c < 0x20 && c != '\n' && c != '\t') || c == 0x7f; }, ' ');
  return text;
}

double possible(double number) {
  if (!std::isfinite(number) || number < 0.0) throw Error("no possible number");
  return number;
}

LaunchResources resources_from_json(const nlohmann::json& entry) {
  LaunchResources resources;
  resources.registers = std::clamp(entry.at("registers").get<int>(), 0, 1 << 16);
  resources.local_bytes = std::max<std::int64_t>(0, entry.at("local_bytes"));
  resources.shared_bytes = std::max<std::int64_t>(0, entry.at("shared_bytes"));
  resources.resident_blocks = std::clamp(entry.at("resident_blocks").get<int>(), 0, 1 << 16);
  resources.occupancy = std::min(1.0, possible(entry.at("occupancy")));
  return resources;
}

}  // namespace

nlohmann::json failure_to_json(const Failure& failure, bool fatal) {
  return {{"ok", false},
          {"status", to_string(failure.status)},
          {"message", printable(failure.message)},
          {"details", printable_lines(failure.details)},
          {"line", failure.at.line},
          {"column", failure.at.column},
          {"fatal", fatal}};
}

Failure failure_from_json(const nlohmann::json& answer) try {
  Failure failure;
  failure.status = status_from_string(answer.value("status", "crashed")).value_or(Status::crashed);
  if (is_correct(failure.status)) failure.status = Status::crashed;
  failure.message = printable(answer.value("message", "the runner gave no reason"));
  failure.at = {answer.value("line", 0), answer.value("column", 0)};
  failure.details = printable_lines(answer.value("details", ""));
  return failure;
} catch (const nlohmann::json::exception&) {
  return {Status::crashed, "the runner's answer cannot be read"};
}

Gate gate_from_json(const nlohmann::json& answer) {
  const auto found = answer.find("gate");
  if (found == answer.end() || !found->is_number_integer()) return Gate::expired;
  const auto gate = found->get<std::int64_t>();
  const bool known = gate == static_cast<int>(Gate::unused) || gate == static_cast<int>(Gate::held);
  return known ? static_cast<Gate>(gate) : Gate::expired;
}

nlohmann::json findings_to_json(const std::vector<Finding>& findings) {
  nlohmann::json list = nlohmann::json::array();
  for (const Finding& finding : findings)
    list.push_back({{"message", printable(finding.message)}, {"line", finding.at.line}, {"column", finding.at.column}});
  return list;
}

std::vector<Finding> findings_from_json(const nlohmann::json& answer) try {
  std::vector<Finding> findings;
  for (const auto& entry : answer.value("findings", nlohmann::json::array()))
    findings.push_back({printable(entry.value("message", "")), {entry.value("line", 0), entry.value("column", 0)}});
  return findings;
} catch (const nlohmann::json::exception&) {
  return {};
}

std::string printed_from_json(const nlohmann::json& answer) {
  const auto found = answer.find("printed");
  return found != answer.end() && found->is_string() ? printable_lines(found->get<std::string>()) : "";
}

nlohmann::json step_times_to_json(const StepTimes& times) {
  nlohmann::json steps = nlohmann::json::array();
  for (const StepTime& step : times.steps) {
    nlohmann::json& entry = steps.emplace_back(nlohmann::json{{"milliseconds", step.milliseconds}});
    if (!step.resources) continue;
    entry["registers"] = step.resources->registers;
    entry["local_bytes"] = step.resources->local_bytes;
    entry["shared_bytes"] = step.resources->shared_bytes;
    entry["resident_blocks"] = step.resources->resident_blocks;
    entry["occupancy"] = step.resources->occupancy;
  }
  return {{"empty_ms", times.empty_ms}, {"steps", steps}};
}

StepTimes step_times_from_json(const nlohmann::json& answer) try {
  const auto found = answer.find("step_times");
  if (found == answer.end() || found->at("steps").size() > most_steps) return {};
  StepTimes times{possible(found->at("empty_ms")), {}};
  for (const auto& entry : found->at("steps")) {
    StepTime& step = times.steps.emplace_back(StepTime{possible(entry.at("milliseconds")), {}});
    if (entry.contains("registers")) step.resources = resources_from_json(entry);
  }
  return times;
} catch (const std::exception&) {
  return {};
}

nlohmann::json offsets_to_json(const BufferOffsets& offsets) { return offsets; }

BufferOffsets offsets_from_json(const nlohmann::json& json) { return json.get<BufferOffsets>(); }

}  // namespace cudal1::protocol
