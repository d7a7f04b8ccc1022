#include "train/report/program_progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <map>

#include "base/result.hpp"
#include "policy/prompt/answer.hpp"
#include "policy/search/proposal.hpp"
#include "train/data/exemplar_analysis.hpp"

namespace cudal1 {
namespace {

constexpr std::size_t most_pieces = 12;  // of a change: more is a list of everything

//! Groups are named STEP-NUMBER-RESAMPLED.
std::int64_t step_of(const TrainingExample& sample) {
  std::int64_t step = 0;
  const std::string& group = sample.group;
  const auto [end, problem] = std::from_chars(group.data(), group.data() + group.size(), step);
  if (problem != std::errc() || end == group.data() + group.size() || *end != '-')
    throw Error(fmt::format("'{}' is no group of a step of stage 3", group));
  return step + 1;
}

bool is_success(const TrainingExample& sample) { return sample.speedup > 0.0; }

void add(ProgramProgress& progress, const TrainingExample& sample, const std::set<std::string>& writers_plans) {
  ++progress.samples;
  if (!is_success(sample)) return;
  const FoundProgram found{step_of(sample), read_answer(sample.completion).program, sample.speedup,
                           writers_plans.contains(sample.plan_hash)};
  if (progress.successes++ == 0 || found.step < progress.earliest.step) progress.earliest = found;
  const bool is_faster = found.speedup > progress.best.speedup;
  if (is_faster || (found.speedup == progress.best.speedup && found.step < progress.best.step)) progress.best = found;
}

}  // namespace

double ProgramProgress::gain() const { return std::log(best.speedup / earliest.speedup); }

std::vector<ProgramProgress> progress_of_tasks(std::span<const TrainingExample> samples,
                                               const std::set<std::string>& writers_plans) {
  std::map<std::string, ProgramProgress> tasks;
  for (const TrainingExample& sample : samples) {
    ProgramProgress& progress = tasks[sample.task];
    progress.task = sample.task;
    add(progress, sample, writers_plans);
  }
  std::vector<ProgramProgress> made;
  for (auto& [name, progress] : tasks)
    if (progress.successes > 0) made.push_back(std::move(progress));
  std::ranges::stable_sort(made, std::ranges::greater(), &ProgramProgress::gain);
  return made;
}

std::string change_in_words(const std::string& before, const std::string& after) {
  if (before == after) return "nothing";
  if (!proposal_from_text(before) || !proposal_from_text(after)) return "code of its own, which has no short words";
  const std::string words = program_differences(after, before, most_pieces);
  return words.empty() ? "nothing that runs otherwise" : words;
}

}  // namespace cudal1
