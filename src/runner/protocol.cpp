#include "runner/protocol.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace cudal1::protocol {
namespace {

constexpr std::size_t longest_message = 2000, longest_details = std::size_t{65} << 10;

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

nlohmann::json offsets_to_json(const BufferOffsets& offsets) { return offsets; }

BufferOffsets offsets_from_json(const nlohmann::json& json) { return json.get<BufferOffsets>(); }

}  // namespace cudal1::protocol
