#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/files.hpp"
#include "base/lines.hpp"
#include "base/result.hpp"
#include "suite/suite_readers.hpp"

namespace cudal1 {
namespace {

using nlohmann::json;

//! The first of these that is there: files of the field call the same thing by several names.
const json* find_any(const json& line, std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (const auto found = line.find(name); found != line.end() && !found->is_null()) return &*found;
  return nullptr;
}

std::string text_of(const json* field, const char* name) {
  if (!field) return {};
  if (!field->is_string()) throw Error(fmt::format("\"{}\" is no text", name));
  return field->get<std::string>();
}

//! A name becomes that of files, and a line of a table.
std::string name_of(const json* field, const char* name) {
  std::string text = text_of(field, name);
  const auto is_control = [](unsigned char c) { return c < 0x20 || c == 0x7F; };
  if (std::ranges::any_of(text, is_control)) throw Error(fmt::format("\"{}\" has a control character", name));
  return text;
}

std::optional<int> number_of(const json* field, const char* name) {
  if (!field) return std::nullopt;
  if (!field->is_number_integer()) throw Error(fmt::format("\"{}\" is no whole number", name));
  const auto number = field->get<std::int64_t>();
  if (number < 0 || number > 1'000'000'000) throw Error(fmt::format("\"{}\" is {}", name, number));
  return static_cast<int>(number);
}

json parse_line(std::string_view text) {
  try {
    json line = json::parse(text);
    if (!line.is_object()) throw Error("no JSON object");
    return line;
  } catch (const json::parse_error& problem) {
    throw Error(fmt::format("broken JSON at column {}", problem.byte));
  }
}

SuiteTask task_of_line(std::string_view text, const std::filesystem::path& file) {
  const json line = parse_line(text);
  SuiteTask task;
  task.suite = name_of(find_any(line, {"suite"}), "suite");
  task.level = number_of(find_any(line, {"level", "level_id"}), "level");
  task.id = number_of(find_any(line, {"id", "problem_id", "task_id"}), "id");
  task.name = name_of(find_any(line, {"name"}), "name");
  task.code = text_of(find_any(line, {"code", "ref_code"}), "code");
  task.path = file;
  if (task.code.empty()) throw Error("has no \"code\"");
  if (task.name.empty() && !task.id) throw Error("has neither \"name\" nor \"id\"");
  if (task.name.empty()) task.name = fmt::format("task_{}", *task.id);
  if (!task.id) task.id = leading_number(task.name);
  if (task.suite.empty()) task.suite = file.stem().string();
  return task;
}

}  // namespace

void read_jsonl_suite(const std::filesystem::path& file, Suite& suite) {
  for_each_line(read_file(file), [&](std::string_view line, int number) {
    const std::string place = fmt::format("{}:{}", file.string(), number);
    try {
      SuiteTask task = task_of_line(line, file);
      task.place = place;
      suite.tasks.push_back(std::move(task));
    } catch (const Error& problem) {
      suite.problems.push_back(fmt::format("{}: {}", place, problem.what()));
    }
  });
}

}  // namespace cudal1
