#include "report/sample_row.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "base/files.hpp"
#include "base/lines.hpp"
#include "base/result.hpp"

namespace cudal1 {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

template <class Value>
json or_null(const std::optional<Value>& value) {
  return value ? json(*value) : json(nullptr);
}

template <class Value>
std::optional<Value> if_said(const json& value) {
  return value.is_null() ? std::nullopt : std::optional(value.get<Value>());
}

auto identity_of(const SampleRow& row) { return std::tuple(row.suite, row.level.value_or(-1), row.name, row.sample); }
using Identity = decltype(identity_of(SampleRow{}));

void read_into(std::map<Identity, SampleRow>& rows, const fs::path& file) {
  for_each_line(read_file(file), [&](std::string_view line, int number) {
    const json parsed = json::parse(line, nullptr, false);
    if (parsed.is_discarded()) return;  // cut short
    try {
      SampleRow row = sample_row_from_json(parsed);
      rows[identity_of(row)] = std::move(row);
    } catch (const Error& problem) {
      throw Error(fmt::format("{}:{}: {}", file.string(), number, problem.what()));
    }
  });
}

void require_one_device(const std::vector<SampleRow>& rows) {
  const SampleRow* first = nullptr;
  for (const SampleRow& row : rows) {
    if (row.device.empty()) continue;
    if (first != nullptr && first->device != row.device)
      throw Error(fmt::format("these are samples of different devices: {} on {}, {} on {}", first->label(),
                              first->device, row.label(), row.device));
    first = &row;
  }
}

}  // namespace

bool SampleRow::is_final() const {
  constexpr const char* worth_another_try[] = {not_answered, no_task_status, failed_status, "judge_error", "unstable"};
  return std::ranges::none_of(worth_another_try, [&](const char* each) { return status == each; });
}

std::string SampleRow::label() const { return level ? fmt::format("level{}/{}", *level, name) : name; }

json to_json(const SampleRow& row) {
  const auto if_known = [&](auto value) { return row.device.empty() ? json(nullptr) : json(value); };
  return {{"suite", row.suite},
          {"level", or_null(row.level)},
          {"id", or_null(row.id)},
          {"name", row.name},
          {"key", row.key},
          {"sample", row.sample},
          {"policy", row.policy},
          {"answer", row.answer},
          {"status", row.status},
          {"error", row.error},
          {"program", row.program},
          {"device", if_known(row.device)},
          {"degenerate", if_known(row.degenerate)},
          {"predicted", if_known(row.predicted)},
          {"speedup", or_null(row.speedup)},
          {"speedup_low", or_null(row.speedup_low)},
          {"speedup_high", or_null(row.speedup_high)},
          {"reference_ms", or_null(row.reference_ms)},
          {"candidate_ms", or_null(row.candidate_ms)},
          {"repairs", row.repairs},
          {"prompt_tokens", row.prompt_tokens},
          {"new_tokens", row.new_tokens},
          {"cost", row.cost},
          {"seconds", row.seconds}};
}

SampleRow sample_row_from_json(const json& said) try {
  SampleRow row;
  row.suite = said.at("suite").get<std::string>();
  row.level = if_said<int>(said.at("level"));
  row.id = if_said<int>(said.at("id"));
  row.name = said.at("name").get<std::string>();
  row.key = said.at("key").get<std::string>();
  row.sample = said.at("sample").get<int>();
  row.policy = said.at("policy").get<std::string>();
  row.answer = said.at("answer").get<std::string>();
  row.status = said.at("status").get<std::string>();
  row.error = said.at("error").get<std::string>();
  row.program = said.at("program").get<std::string>();
  row.device = if_said<std::string>(said.at("device")).value_or("");
  row.degenerate = if_said<bool>(said.at("degenerate")).value_or(false);
  row.predicted = if_said<bool>(said.at("predicted")).value_or(false);
  row.speedup = if_said<double>(said.at("speedup"));
  row.speedup_low = if_said<double>(said.at("speedup_low"));
  row.speedup_high = if_said<double>(said.at("speedup_high"));
  row.reference_ms = if_said<double>(said.at("reference_ms"));
  row.candidate_ms = if_said<double>(said.at("candidate_ms"));
  row.repairs = said.at("repairs").get<int>();
  row.prompt_tokens = said.at("prompt_tokens").get<std::int64_t>();
  row.new_tokens = said.at("new_tokens").get<std::int64_t>();
  row.cost = said.at("cost").get<double>();
  row.seconds = said.at("seconds").get<double>();
  return row;
} catch (const json::exception& problem) {
  throw Error(fmt::format("this is no sample of a policy: {}", problem.what()));
}

void sort_samples(std::vector<SampleRow>& rows) {
  std::ranges::stable_sort(rows, {}, [](const SampleRow& row) {
    return std::tuple(row.suite, row.level.value_or(-1), row.id.value_or(-1), row.name, row.sample);
  });
}

std::vector<SampleRow> read_samples(const std::vector<fs::path>& files) {
  std::map<Identity, SampleRow> rows;
  for (const fs::path& file : files) {
    std::error_code problem;
    if (fs::exists(file, problem)) read_into(rows, file);
  }
  std::vector<SampleRow> read;
  for (auto& [identity, row] : rows) read.push_back(std::move(row));
  if (files.size() > 1) require_one_device(read);
  return read;
}

}  // namespace cudal1
