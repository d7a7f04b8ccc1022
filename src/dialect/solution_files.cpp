#include "dialect/solution_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/files.hpp"
#include "base/lines.hpp"
#include "base/result.hpp"
#include "dialect/markdown.hpp"
#include "suite/selection.hpp"

namespace cudal1 {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr std::size_t max_solution_bytes = std::size_t{4} << 20;

const json* find_any(const json& line, std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (const auto found = line.find(name); found != line.end() && !found->is_null()) return &*found;
  return nullptr;
}

std::optional<int> number_of(const json* field) {
  if (field && field->is_number_integer()) return field->get<int>();
  return std::nullopt;
}

SolutionText solution_of_line(std::string_view text) {
  const json line = json::parse(text, nullptr, false);
  if (!line.is_object()) throw Error("no JSON object");
  const json* code = find_any(line, {"custom_code"});
  if (!code || !code->is_string()) throw Error("has no \"custom_code\"");
  SolutionText solution;
  if (code->get_ref<const std::string&>().size() > max_solution_bytes)
    throw Error("\"custom_code\" is too long for a solution");
  solution.text = without_fences(code->get<std::string>());
  solution.level = number_of(find_any(line, {"level", "level_id"}));
  solution.id = number_of(find_any(line, {"id", "problem_id", "task_id"}));
  if (const json* name = find_any(line, {"name"}); name && name->is_string()) solution.task = name->get<std::string>();
  return solution;
}

void read_lines(const fs::path& path, SolutionFiles& into) {
  for_each_line(read_file(path), [&](std::string_view line, int number) {
    try {
      SolutionText solution = solution_of_line(line);
      solution.name = fmt::format("{}:{}", path.filename().string(), number);
      into.solutions.push_back(std::move(solution));
    } catch (const Error& problem) {
      into.problems.push_back(fmt::format("{}:{}: {}", path.string(), number, problem.what()));
    }
  });
}

SolutionText solution_of_file(const fs::path& path) {
  SolutionText solution;
  solution.name = path.filename().string();
  solution.text = without_fences(read_file(path, max_solution_bytes));
  int level = 0, problem = 0, sample = 0, length = 0;
  const int found = std::sscanf(solution.name.c_str(), "level_%d_problem_%d_sample_%d_kernel.py%n", &level, &problem,
                                &sample, &length);
  if (found == 3 && static_cast<std::size_t>(length) == solution.name.size()) {
    solution.level = level;
    solution.id = problem;
  }
  return solution;
}

void read_folder(const fs::path& folder, SolutionFiles& into) {
  for (const fs::path& path : files_below(folder)) {
    if (path.extension() != ".py") continue;
    try {
      SolutionText solution = solution_of_file(path);
      if (solution.id) into.solutions.push_back(std::move(solution));
    } catch (const Error& problem) {
      into.problems.emplace_back(problem.what());
    }
  }
  // Sample 10 comes after sample 9.
  std::ranges::stable_sort(into.solutions, [](const SolutionText& a, const SolutionText& b) {
    return ::strverscmp(a.name.c_str(), b.name.c_str()) < 0;
  });
}

}  // namespace

bool holds_solutions(const fs::path& path) {
  std::error_code problem;
  return path.extension() == ".py" || path.extension() == ".jsonl" || fs::is_directory(path, problem);
}

SolutionFiles read_solutions(const fs::path& path) {
  SolutionFiles files;
  std::error_code problem;
  if (fs::is_directory(path, problem))
    read_folder(path, files);
  else if (path.extension() == ".jsonl")
    read_lines(path, files);
  else
    files.solutions.push_back(solution_of_file(path));
  return files;
}

bool names_match(std::string_view one, std::string_view other) {
  if (one == other) return true;
  const std::string_view stem = without_number(one), other_stem = without_number(other);
  return stem == other_stem && (stem == one || other_stem == other);
}

std::vector<SolutionText> solutions_for(const std::vector<SolutionText>& solutions, const std::optional<int>& level,
                                        const std::optional<int>& id, const std::string& task) {
  std::vector<SolutionText> chosen;
  const auto fits = [](const auto& named, const auto& wanted) { return !named || !wanted || *named == *wanted; };
  for (const SolutionText& solution : solutions) {
    const bool same_task = solution.task.empty() || solution.id || names_match(solution.task, task);
    if (same_task && fits(solution.level, level) && fits(solution.id, id)) chosen.push_back(solution);
  }
  return chosen;
}

}  // namespace cudal1
