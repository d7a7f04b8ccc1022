#include "optimize/search_run.hpp"

#include <algorithm>
#include <chrono>

#include "base/seconds_since.hpp"

namespace cudal1 {
namespace {

constexpr std::size_t most_waiting = 3;  // programs that are compiled while one is judged

}  // namespace

SearchRun::SearchRun(SearchParts parts, const SearchLimits& limits, std::vector<ScoredProgram> known, Spent spent)
    : parts_(std::move(parts)), limits_(limits), before_(spent), spent_(spent), seen_(std::move(known)) {
  for (const ScoredProgram& program : seen_) best_reward_ = std::max(best_reward_, program.reward);
}

bool SearchRun::is_over() const {
  return parts_.stop() || spent_.evaluations >= limits_.evaluations || spent_.seconds >= limits_.seconds ||
         (exhausted_ && waiting_.empty());
}

const JudgedProgram* SearchRun::step() {
  if (is_over()) return nullptr;
  const auto begin = std::chrono::steady_clock::now();
  fill_queue();
  if (waiting_.empty()) return nullptr;
  JudgedProgram finding{std::move(waiting_.front()), parts_.finish(best_reward_)};
  waiting_.pop_front();
  spent_.seconds += seconds_since(begin);
  if (parts_.stop()) return nullptr;
  take(std::move(finding));
  return &judged_.back();
}

void SearchRun::fill_queue() {
  while (waiting_.size() < most_waiting &&
         spent_.evaluations + static_cast<int>(waiting_.size()) < limits_.evaluations) {
    auto text = parts_.policy->propose(seen_);
    exhausted_ = !text;
    if (!text) return;
    parts_.start(*text);
    waiting_.push_back(std::move(*text));
  }
}

void SearchRun::take(JudgedProgram finding) {
  const double reward = finding.evaluation.reward.value_or(0.0);
  const double milliseconds = finding.evaluation.timing ? finding.evaluation.timing->candidate_ms : 0.0;
  Failure failure = finding.evaluation.failure;
  failure.status = finding.evaluation.status;
  const double speedup = finding.evaluation.timing ? finding.evaluation.timing->speedup : 0.0;
  seen_.push_back({finding.text, reward, milliseconds, std::move(failure), finding.evaluation.profile, speedup});
  ++spent_.evaluations;
  best_reward_ = std::max(best_reward_, reward);
  if (reward > 0.0 && (!best_ || reward > *judged_[*best_].evaluation.reward)) best_ = judged_.size();
  judged_.push_back(std::move(finding));
}

const JudgedProgram* SearchRun::best() const { return best_ ? &judged_[*best_] : nullptr; }

}  // namespace cudal1
