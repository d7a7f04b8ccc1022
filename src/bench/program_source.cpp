#include "bench/program_source.hpp"

#include <fmt/format.h>

#include <regex>

#include "base/result.hpp"
#include "suite/selection.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;

bool is_program(const fs::path& file) { return file.extension() == ".cu" || file.extension() == ".py"; }

}  // namespace

ProgramSource ProgramSource::best_on_record(const fs::path& archive) {
  ProgramSource source;
  source.archive_ = archive;
  return source;
}

ProgramSource ProgramSource::folder(const fs::path& folder) {
  static const std::regex kernelbench("level_(\\d{1,6})_problem_(\\d{1,6})_sample_(\\d{1,6})_kernel");
  std::error_code problem;
  ProgramSource source;
  source.in_folder_ = true;
  for (const auto& entry : fs::directory_iterator(folder, problem)) {
    if (!is_program(entry.path())) continue;
    const std::string stem = entry.path().stem().string();
    std::smatch parts;
    if (std::regex_match(stem, parts, kernelbench))
      source.by_number_[{std::stoi(parts[1]), std::stoi(parts[2])}][std::stoi(parts[3])] = entry.path();
    else
      source.by_name_[stem] = entry.path();
  }
  if (problem) throw Error(fmt::format("{}: {}", folder.string(), problem.message()));
  if (source.by_name_.empty() && source.by_number_.empty())
    throw Error(
        fmt::format("{}: there is no program in it (NAME.cu, level_1_problem_19_sample_0_kernel.py)", folder.string()));
  return source;
}

ProgramSource ProgramSource::lines(const fs::path& file, std::vector<std::string>& problems) {
  ProgramSource source;
  source.in_lines_ = true;
  SolutionFiles files = read_solutions(file);
  problems.insert(problems.end(), files.problems.begin(), files.problems.end());
  // Whoever names no task would be for all of them.
  for (SolutionText& solution : files.solutions)
    if (solution.id || !solution.task.empty())
      source.solutions_.push_back(std::move(solution));
    else
      problems.push_back(fmt::format("{}: names no task: it has neither an id nor a name", solution.name));
  if (source.solutions_.empty())
    throw Error(fmt::format("{}: there is no solution in it (lines with \"custom_code\", \"level\" and \"id\")",
                            file.string()));
  return source;
}

void ProgramSource::drop_ambiguous_lines(const std::vector<SuiteTask>& tasks, std::vector<std::string>& problems) {
  std::erase_if(solutions_, [&](const SolutionText& solution) {
    std::vector<std::string> fitting;
    for (const SuiteTask& task : tasks)
      if (!solutions_for({solution}, task.level, task.id, task.name).empty()) fitting.push_back(task.label());
    const bool is_ambiguous = !solution.id && without_number(solution.task) == solution.task && fitting.size() > 1;
    if (is_ambiguous)
      problems.push_back(fmt::format("{}: '{}' may be {} or {}: it needs a level, an id or the whole name",
                                     solution.name, solution.task, fitting[0], fitting[1]));
    return is_ambiguous;
  });
}

std::optional<ProgramChoice> ProgramSource::line_for(const SuiteTask& task) const {
  const auto chosen = solutions_for(solutions_, task.level, task.id, task.name);
  if (chosen.empty()) return std::nullopt;
  return ProgramChoice{{}, {}, 0, chosen.front().text, chosen.front().name};
}

std::optional<ProgramChoice> ProgramSource::program_for(const SuiteTask& task) const {
  if (!archive_.empty()) return ProgramChoice{{}, archive_, 0, {}, {}};
  if (in_lines_) return line_for(task);
  if (!in_folder_) return ProgramChoice{};
  for (const std::string& name : {task.name, std::string(without_number(task.name))})
    if (const auto found = by_name_.find(name); found != by_name_.end())
      return ProgramChoice{found->second, {}, 0, {}, {}};
  const auto samples = by_number_.find({task.level.value_or(-1), task.id.value_or(-1)});
  if (samples == by_number_.end()) return std::nullopt;
  const auto& [sample, file] = *samples->second.begin();
  return ProgramChoice{file, {}, sample, {}, {}};
}

}  // namespace cudal1
