#include "suite/selection.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/between_commas.hpp"
#include "base/hash.hpp"
#include "base/result.hpp"

namespace cudal1 {
namespace {

std::optional<int> whole_number_in(std::string_view text) {
  int number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_whole = error == std::errc() && rest == text.data() + text.size() && number >= 0;
  return is_whole ? std::optional(number) : std::nullopt;
}

std::pair<int, int> parse_range(std::string_view text) {
  const std::size_t dash = text.find('-');
  const auto first = whole_number_in(text.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : whole_number_in(text.substr(dash + 1));
  if (!first || !last || *first > *last)
    throw UsageError(fmt::format("'{}' is neither a number nor a range such as 4-10", text));
  return {*first, *last};
}

bool matches(const std::string& glob, const SuiteTask& task) {
  const std::string& text = glob.find('/') == std::string::npos ? task.name : task.label();
  return fnmatch(glob.c_str(), text.c_str(), 0) == 0;
}

template <class Range, class Test>
bool empty_or_any(const Range& range, const Test& test) {
  return range.empty() || std::ranges::any_of(range, test);
}

}  // namespace

std::string_view without_number(std::string_view name) {
  const std::size_t digits = name.find_first_not_of("0123456789");
  const bool has_number = digits != 0 && digits != std::string_view::npos && name[digits] == '_';
  return has_number ? name.substr(digits + 1) : name;
}

NumberList::NumberList(std::string_view text) {
  for (const std::string_view part : between_commas(text)) ranges_.push_back(parse_range(part));
}

bool NumberList::contains(int number) const {
  return std::ranges::any_of(ranges_, [&](const auto& r) { return r.first <= number && number <= r.second; });
}

bool NumberList::lies_within(int first, int last) const {
  return std::ranges::all_of(ranges_, [&](const auto& r) { return first <= r.first && r.second <= last; });
}

SuiteShare SuiteShare::parse(std::string_view text) {
  const std::string problem =
      fmt::format("'{}' is no share such as 2/4, the second of four, or 1,3-4/8, three of eight", text);
  const std::size_t slash = text.find('/');
  const auto count = slash == std::string_view::npos ? std::nullopt : whole_number_in(text.substr(slash + 1));
  if (!count) throw UsageError(problem);
  try {
    SuiteShare share{NumberList(text.substr(0, slash)), *count};
    if (!share.chosen.empty() && share.chosen.lies_within(1, *count)) return share;
  } catch (const UsageError&) {  // what is wrong is the share, not a number of it
  }
  throw UsageError(problem);
}

bool SuiteShare::contains(const std::string& task_name) const {
  const std::string digits = sha256_hex(task_name).substr(0, 15);
  return chosen.empty() ||
         chosen.contains(1 + static_cast<int>(std::stoull(digits, nullptr, 16) % static_cast<unsigned>(count)));
}

bool TaskSelection::contains(const SuiteTask& task) const {
  const bool numbers_fit = (levels.empty() || (task.level && levels.contains(*task.level))) &&
                           (ids.empty() || (task.id && ids.contains(*task.id)));
  return numbers_fit && empty_or_any(suites, [&](const std::string& suite) { return suite == task.suite; }) &&
         empty_or_any(names,
                      [&](const auto& name) { return name == task.name || name == without_number(task.name); }) &&
         empty_or_any(globs, [&](const std::string& glob) { return matches(glob, task); }) && share.contains(task.name);
}

std::vector<SuiteTask> select_tasks(const Suite& suite, const TaskSelection& selection,
                                    const std::filesystem::path& path) {
  std::vector<SuiteTask> chosen;
  std::ranges::copy_if(suite.tasks, std::back_inserter(chosen),
                       [&](const SuiteTask& task) { return selection.contains(task); });
  if (suite.tasks.empty()) throw Error(fmt::format("{}: there is no task in it", path.string()));
  if (chosen.empty()) throw Error(fmt::format("{}: none of its {} tasks is chosen", path.string(), suite.tasks.size()));
  return chosen;
}

}  // namespace cudal1
