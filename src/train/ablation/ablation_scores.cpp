#include "train/ablation/ablation_scores.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "base/result.hpp"

namespace cudal1 {
namespace {

constexpr std::uint64_t bootstrap_seed = 1;  // the same draws for all, so that figures can be compared
constexpr double faster_than = 1.01;

//! Of the samples that count, in rounds [first, last); nothing where there is none.
template <class Number>
std::optional<double> mean_of(const TrialTask& task, std::size_t first, std::size_t last, const Number& number) {
  double sum = 0.0, count = 0.0;
  for (std::size_t round = first; round < std::min(last, task.rewards.size()); ++round)
    for (std::size_t i = 0; i < task.rewards[round].size(); ++i)
      if (task.rewards[round][i].kind != SampleKind::uncounted) {
        sum += number(round, i);
        count += 1.0;
      }
  return count > 0.0 ? std::optional(sum / count) : std::nullopt;
}

constexpr std::size_t to_the_end = static_cast<std::size_t>(-1);

template <class Number>
std::optional<double> mean_of_later(const TrialTask& task, const Number& number) {
  return mean_of(task, 1, to_the_end, number);
}

std::optional<double> first_success(const TrialTask& task, double) {
  return mean_of(task, 0, 1, [&](std::size_t round, std::size_t i) {
    return task.rewards[round][i].kind == SampleKind::success ? 1.0 : 0.0;
  });
}

std::optional<double> later_reward(const TrialTask& task, double) {
  return mean_of_later(task, [&](std::size_t round, std::size_t i) { return task.rewards[round][i].reward; });
}

std::optional<double> later_reward_with_copies(const TrialTask& task, double failure_reward) {
  return mean_of_later(task, [&](std::size_t round, std::size_t i) {
    const ShapedReward& reward = task.rewards[round][i];
    return reward.kind == SampleKind::copy ? std::max(failure_reward, std::log(task.speedups[round][i]))
                                           : reward.reward;
  });
}

//! Whoever finds nothing faster keeps the reference.
std::optional<double> best_log(const TrialTask& task, double) { return std::log(std::max(1.0, task.best_speedup)); }

std::optional<double> copy_rate(const TrialTask& task, double) {
  return mean_of_later(task, [&](std::size_t round, std::size_t i) {
    return task.rewards[round][i].kind == SampleKind::copy ? 1.0 : 0.0;
  });
}

//! Right programs of earlier rounds, written again, whether the prompt showed them or not.
std::optional<double> repeat_rate(const TrialTask& task, double) {
  std::vector<std::set<std::string>> known(task.plans.size() + 1);
  for (std::size_t round = 0; round < task.plans.size(); ++round) {
    known[round + 1] = known[round];
    for (std::size_t i = 0; i < task.plans[round].size(); ++i)
      if (task.speedups[round][i] > 0.0) known[round + 1].insert(task.plans[round][i]);
  }
  return mean_of_later(task, [&](std::size_t round, std::size_t i) {
    return task.speedups[round][i] > 0.0 && known[round].contains(task.plans[round][i]) ? 1.0 : 0.0;
  });
}

constexpr AblationMeasure measures[] = {
    {"first_success", "right at the first sample", first_success},
    {"reward", "log reward, later rounds", later_reward},
    {"reward_with_copies", "the same, copies counted", later_reward_with_copies},
    {"best", "ln of the best", best_log},
    {"copy_rate", "copies", copy_rate},
    {"repeat_rate", "repeats", repeat_rate},
};

bool counts(const TrialTask& task) {
  return std::ranges::all_of(measures, [&](const AblationMeasure& measure) { return measure.of(task, 0.0).has_value(); });
}

//! Takes tasks out that do not count in some trial; returns their names.
std::vector<std::string> leave_out(std::vector<ArmTrials>& arms) {
  std::set<std::string> names;
  for (const ArmTrials& arm : arms)
    for (const std::vector<TrialTask>& trial : arm.trials)
      for (const TrialTask& task : trial)
        if (!counts(task)) names.insert(task.task->task.name);
  for (ArmTrials& arm : arms)
    for (std::vector<TrialTask>& trial : arm.trials)
      std::erase_if(trial, [&](const TrialTask& task) { return names.contains(task.task->task.name); });
  return {names.begin(), names.end()};
}

AblationFigure figure_of(const ScoreTable& table, const BootstrapOptions& options) {
  Random random(bootstrap_seed);
  AblationFigure figure{bootstrap_mean(table, options, random), {}};
  for (const std::vector<double>& row : table)
    figure.by_seed.push_back(std::accumulate(row.begin(), row.end(), 0.0) / static_cast<double>(row.size()));
  return figure;
}

double median_of(std::vector<double> values) {
  if (values.empty()) return 0.0;
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : 0.5 * (values[half - 1] + values[half]);
}

BestSpeedups best_of(const ArmTrials& arm) {
  std::vector<double> right;
  double tasks = 0.0, faster = 0.0;
  for (const std::vector<TrialTask>& trial : arm.trials)
    for (const TrialTask& task : trial) {
      tasks += 1.0;
      if (task.best_speedup > faster_than) faster += 1.0;
      if (task.best_speedup > 0.0) right.push_back(task.best_speedup);
    }
  const auto count = static_cast<double>(right.size());
  const double sum = std::accumulate(right.begin(), right.end(), 0.0);
  return {right.empty() ? 0.0 : sum / count, median_of(right), count / tasks, faster / tasks};
}

ArmScores scores_of(const ArmTrials& arm, double failure_reward, const BootstrapOptions& options) {
  ArmScores made{arm.arm, {}, best_of(arm), arm.stopped};
  for (const AblationMeasure& measure : measures)
    made.figures.push_back(figure_of(score_table(arm, measure, failure_reward), options));
  return made;
}

DifferenceScores difference_of(const AblationDifference& pair, const ArmTrials& first, const ArmTrials& second,
                               double failure_reward, const BootstrapOptions& options) {
  DifferenceScores made{pair, {}};
  for (const AblationMeasure& measure : measures)
    made.figures.push_back(figure_of(paired_differences(score_table(first, measure, failure_reward),
                                                        score_table(second, measure, failure_reward)),
                                     options));
  return made;
}

}  // namespace

std::span<const AblationMeasure> ablation_measures() { return measures; }

ScoreTable score_table(const ArmTrials& arm, const AblationMeasure& measure, double failure_reward) {
  ScoreTable table;
  for (const std::vector<TrialTask>& trial : arm.trials) {
    table.emplace_back();
    for (const TrialTask& task : trial) {
      const std::optional<double> number = measure.of(task, failure_reward);
      if (!number) throw Error(fmt::format("{}: no sample of {} counts", arm.arm.name, task.task->task.name));
      table.back().push_back(*number);
    }
  }
  return table;
}

AblationScores ablation_scores(std::vector<ArmTrials> arms, std::vector<std::uint64_t> seeds, double failure_reward,
                               const BootstrapOptions& options) {
  AblationScores made;
  made.seeds = std::move(seeds);
  made.left_out = leave_out(arms);
  made.tasks = arms.empty() || arms.front().trials.empty() ? 0 : arms.front().trials.front().size();
  if (made.tasks == 0)
    throw Error(fmt::format("there is no task that counts in all arms ({} do not)", made.left_out.size()));
  for (const ArmTrials& arm : arms) made.arms.push_back(scores_of(arm, failure_reward, options));
  const auto find = [&](std::string_view name) {
    return std::ranges::find_if(arms, [&](const ArmTrials& arm) { return arm.arm.name == name; });
  };
  for (const AblationDifference& pair : ablation_differences()) {
    const auto first = find(pair.first), second = find(pair.second);
    if (first != arms.end() && second != arms.end())
      made.differences.push_back(difference_of(pair, *first, *second, failure_reward, options));
  }
  return made;
}

}  // namespace cudal1
