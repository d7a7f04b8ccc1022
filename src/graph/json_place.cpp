#include "graph/json_place.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <vector>

#include "base/result.hpp"

namespace cudal1 {
namespace {

using nlohmann::json;

constexpr int max_nesting = 32;

//! Refuses what nlohmann accepts silently: the second of two equal keys, and nesting without bound.
class StructureCheck {
 public:
  explicit StructureCheck(std::string file) : file_(std::move(file)) {}

  bool operator()(int depth, json::parse_event_t event, const json& parsed) {
    if (depth > max_nesting) throw Error(fmt::format("{}: nested deeper than {} levels", file_, max_nesting));
    if (event == json::parse_event_t::object_start) keys_.emplace_back();
    if (event == json::parse_event_t::object_end) keys_.pop_back();
    if (event == json::parse_event_t::key && !keys_.back().insert(parsed.get<std::string>()).second)
      throw Error(fmt::format("{}: the key \"{}\" appears twice in one object", file_, parsed.get<std::string>()));
    return true;
  }

 private:
  std::string file_;
  std::vector<std::set<std::string>> keys_;
};

std::string line_and_column(std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, std::min(byte == 0 ? 0 : byte - 1, text.size()));
  const auto line = 1 + std::ranges::count(before, '\n');
  const std::size_t line_start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  return fmt::format("{}:{}", line, before.size() - line_start + 1);
}

//! What nlohmann says, without its code and its own idea of the place.
std::string_view reason_of(const json::exception& problem) {
  std::string_view message = problem.what();
  if (const std::size_t colon = message.find(": "); colon != std::string_view::npos) message.remove_prefix(colon + 2);
  return message;
}

}  // namespace

json parse_json(std::string_view text, const std::string& file) {
  StructureCheck check(file);
  try {
    return json::parse(text,
                       [&](int depth, json::parse_event_t event, json& parsed) { return check(depth, event, parsed); });
  } catch (const json::parse_error& problem) {
    throw Error(fmt::format("{}:{}: broken JSON: {}", file, line_and_column(text, problem.byte), reason_of(problem)));
  } catch (const json::exception& problem) {
    throw Error(fmt::format("{}: broken JSON: {}", file, problem.what()));
  }
}

void JsonPlace::fail(std::string_view message) const {
  throw Error(place_.empty() ? fmt::format("{}: {}", file_, message)
                             : fmt::format("{}: {}: {}", file_, place_, message));
}

JsonPlace JsonPlace::at(const std::string& key) const {
  if (std::optional<JsonPlace> found = find(key)) return *found;
  fail(fmt::format("the key \"{}\" is missing", key));
}

std::optional<JsonPlace> JsonPlace::find(const std::string& key) const {
  expect(value_->is_object(), "an object");
  const auto found = value_->find(key);
  if (found == value_->end()) return std::nullopt;
  return JsonPlace(*found, file_, place_.empty() ? key : place_ + "." + key);
}

JsonPlace JsonPlace::at(std::size_t index) const {
  return JsonPlace(value_->at(index), file_, fmt::format("{}[{}]", place_, index));
}

void JsonPlace::allow_keys(std::initializer_list<std::string_view> keys) const {
  expect(value_->is_object(), "an object");
  for (const auto& [key, ignored] : value_->items())
    if (std::ranges::find(keys, key) == keys.end())
      fail(fmt::format("unknown key \"{}\"; known are {}", key, fmt::join(keys, ", ")));
}

void JsonPlace::expect_array() const { expect(value_->is_array(), "a list"); }

std::string JsonPlace::text() const {
  expect(value_->is_string(), "a string");
  return value_->get<std::string>();
}

std::int64_t JsonPlace::integer() const {
  expect(value_->is_number_integer(), "an integer");
  if (value_->is_number_unsigned() && value_->get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX))
    fail(fmt::format("{} is too large", value_->dump()));
  return value_->get<std::int64_t>();
}

double JsonPlace::number() const {
  expect(value_->is_number(), "a number");
  return value_->get<double>();
}

bool JsonPlace::boolean() const {
  expect(value_->is_boolean(), "true or false");
  return value_->get<bool>();
}

void JsonPlace::expect(bool is_right, std::string_view wanted) const {
  if (!is_right) fail(fmt::format("expected {}, found {}", wanted, value_->type_name()));
}

}  // namespace cudal1
