#include "optimize/optimize_run.hpp"

#include <algorithm>
#include <chrono>
#include <deque>

#include "base/seconds_since.hpp"

namespace cudal1 {
namespace {

constexpr std::size_t most_waiting = 3;  // programs that are compiled while one is judged

class OptimizeRun {
 public:
  OptimizeRun(const OptimizeParts& parts, const OptimizeLimits& limits, std::vector<ScoredProgram> known)
      : parts_(parts), limits_(limits), seen_(std::move(known)) {
    for (const ScoredProgram& program : seen_) best_reward_ = std::max(best_reward_, program.reward);
  }

  OptimizeResult run() {
    while (!is_over()) {
      fill_queue();
      if (waiting_.empty()) break;
      JudgedProgram finding{std::move(waiting_.front()), parts_.finish(best_reward_)};
      waiting_.pop_front();
      if (parts_.stop()) break;
      take(std::move(finding));
    }
    result_.stopped = parts_.stop();
    result_.seconds = seconds_since(begin_);
    return std::move(result_);
  }

 private:
  bool is_over() const {
    return parts_.stop() || static_cast<int>(result_.judged.size()) >= limits_.evaluations ||
           seconds_since(begin_) >= limits_.seconds;
  }

  void fill_queue() {
    while (waiting_.size() < most_waiting &&
           static_cast<int>(result_.judged.size() + waiting_.size()) < limits_.evaluations) {
      auto text = parts_.propose(seen_);
      result_.exhausted = !text;
      if (!text) return;
      parts_.start(*text);
      waiting_.push_back(std::move(*text));
    }
  }

  void take(JudgedProgram finding) {
    parts_.record(finding);
    const double reward = finding.evaluation.reward.value_or(0.0);
    seen_.push_back({finding.text, reward});
    best_reward_ = std::max(best_reward_, reward);
    const bool better = reward > 0.0 && (!result_.best || reward > *result_.best->evaluation.reward);
    if (better) result_.best = finding;
    result_.judged.push_back(std::move(finding));
    parts_.progress({static_cast<int>(result_.judged.size()), limits_.evaluations, best_reward_, seconds_since(begin_),
                     &result_.judged.back()});
  }

  const OptimizeParts& parts_;
  OptimizeLimits limits_;
  std::vector<ScoredProgram> seen_;
  std::deque<std::string> waiting_;
  double best_reward_ = 0.0;
  OptimizeResult result_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace

OptimizeResult optimize(const OptimizeParts& parts, const OptimizeLimits& limits, std::vector<ScoredProgram> known) {
  return OptimizeRun(parts, limits, std::move(known)).run();
}

}  // namespace cudal1
