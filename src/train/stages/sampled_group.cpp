#include "train/stages/sampled_group.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace cudal1 {
namespace {

bool counts(const ShapedReward& reward) { return reward.kind != SampleKind::uncounted; }

bool is_right(const ShapedReward& reward) {
  return reward.kind == SampleKind::success || reward.kind == SampleKind::copy;
}

//! The paper's smoothing, over the samples that count.
std::vector<ShapedReward> smoothed(std::vector<ShapedReward> rewards) {
  std::vector<double> numbers;
  for (const ShapedReward& reward : rewards)
    if (counts(reward)) numbers.push_back(reward.reward);
  const std::vector<double> smooth = smoothed_rewards(numbers);
  std::size_t next = 0;
  for (ShapedReward& reward : rewards)
    if (counts(reward)) reward.reward = smooth[next++];
  return rewards;
}

//! Adds up what means are made of.
class FigureSums {
 public:
  void add(const SampledGroup& group) {
    std::vector<std::string> plans;
    for (std::size_t i = 0; i < group.answers.size(); ++i) {
      plans.push_back(group.answers[i].assessment.outcome.plan_hash);
      add(group.answers[i], group.rewards[i]);
      if (group.has_choice && is_right(group.rewards[i]))
        earned_.push_back({trick_of(group.answers[i].assessment.techniques), group.rewards[i].reward});
    }
    distinct_plans_ += static_cast<double>(distinct_plans(plans));
    ++groups_;
    made_.counts.add(group.spread, group.action);
  }

  GroupFigures figures() {
    made_.reward = mean(rewards_, counted_);
    made_.success_rate = mean(right_, counted_);
    made_.copy_rate = mean(copies_, counted_);
    made_.known_rate = mean(known_, programs_);
    made_.measured_again_rate = mean(measured_again_, right_);
    made_.mean_log_speedup = mean(log_speedups_, right_);
    made_.entropy = mean(entropy_, tokens_);
    made_.distinct_plans = mean(distinct_plans_, groups_);
    made_.trick = largest_trick_share(earned_);
    return made_;
  }

 private:
  static double mean(double sum, double count) { return count > 0.0 ? sum / count : 0.0; }

  void add(const JudgedAnswer& judged, const ShapedReward& reward) {
    ++made_.samples;
    if (!judged.program.empty()) ++programs_;
    if (judged.assessment.is_known) ++known_;
    for (const DrawnToken& token : judged.answer.tokens)
      if (!token.forced) {
        entropy_ -= token.policy_log_probability;
        ++tokens_;
      }
    if (!counts(reward)) return;
    ++counted_;
    rewards_ += reward.reward;
    if (reward.kind == SampleKind::copy) ++copies_;
    if (is_right(reward)) add_right(judged.assessment);
  }

  void add_right(const Assessment& assessment) {
    ++right_;
    if (assessment.is_measured_again) ++measured_again_;
    log_speedups_ += std::log(assessment.outcome.speedup);
    made_.best_speedup = std::max(made_.best_speedup, assessment.outcome.speedup);
  }

  GroupFigures made_;
  double rewards_ = 0.0, counted_ = 0.0, right_ = 0.0, copies_ = 0.0, known_ = 0.0, programs_ = 0.0;
  double measured_again_ = 0.0, log_speedups_ = 0.0, entropy_ = 0.0, tokens_ = 0.0, distinct_plans_ = 0.0;
  double groups_ = 0.0;
  std::vector<EarnedReward> earned_;
};

}  // namespace

void weigh(SampledGroup& group, const std::string& empty_plan_hash, const ContrastiveSettings& settings) {
  const RewardContext context{empty_plan_hash, group.shown.plan_hashes};
  group.rewards.clear();
  for (const JudgedAnswer& answer : group.answers)
    group.rewards.push_back(shaped_reward(answer.assessment.outcome, context, settings.reward));
  group.spread = spread_of(group.rewards);
  group.action = action_for(group.spread, group.resampled, settings.group);
  group.advantages.assign(group.rewards.size(), 0.0);
  if (group.action != GroupAction::train) return;
  const bool smooths = settings.smoothing && settings.reward.shape == RewardShape::paper;
  group.advantages =
      group_advantages(smooths ? smoothed(group.rewards) : group.rewards, settings.group.deviation_floor);
}

std::string trick_of(const std::vector<std::string>& techniques) {
  return techniques.empty() ? "kernels of its own" : fmt::format("{}", fmt::join(techniques, "+"));
}

GroupFigures figures_of(std::span<const SampledGroup> groups) {
  FigureSums sums;
  for (const SampledGroup& group : groups) sums.add(group);
  return sums.figures();
}

}  // namespace cudal1
