#include "train/course/policy_trial.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "train/stages/turns.hpp"

namespace cudal1 {
namespace {

// Places of randomness in a trial; each has a number of its own.
enum Place : std::uint64_t { exemplars_of_task = 1, answers_of_task = 2 };

class Trial {
 public:
  Trial(LearningModel& model, Assessor& assessor, const MakePrompt& prompt, const TrialOptions& options)
      : model_(model), assessor_(assessor), prompt_(prompt), options_(options) {}

  //! `first`: number of the first task among all.
  void run(std::span<TrialTask> tasks, std::size_t first) {
    std::vector<ProgramPool> pools(tasks.size(), ProgramPool(options_.exemplars));
    std::vector<std::optional<JudgedAnswer>> best(tasks.size());
    for (std::int64_t round = 0; round < options_.rounds; ++round) {
      std::vector<ShownPrograms> shown;
      for (std::size_t i = 0; i < tasks.size(); ++i)
        shown.push_back(is_copied(round) ? shown_alone(best[i])
                                         : drawn(pools[i], first + i, static_cast<std::uint64_t>(round)));
      const auto groups = is_copied(round) ? copies(best) : answers(tasks, shown, first, round);
      for (std::size_t i = 0; i < tasks.size(); ++i) take(tasks[i], groups[i], shown[i], pools[i], best[i]);
    }
  }

 private:
  using Groups = std::vector<std::vector<JudgedAnswer>>;

  bool is_copied(std::int64_t round) const { return options_.copies_best && round > 0; }

  ShownPrograms drawn(const ProgramPool& pool, std::uint64_t task, std::uint64_t round) const {
    Random random(seed_of(options_.seed, {exemplars_of_task, task, round}));
    return pool.draw(random);
  }

  static ShownPrograms shown_alone(const std::optional<JudgedAnswer>& best) {
    if (!best) return {};
    const SampleOutcome& outcome = best->assessment.outcome;
    return {{{best->program, outcome.speedup}}, {outcome.plan_hash}, {}};
  }

  //! Where there was no success there is nothing to copy: an answer without a program.
  Groups copies(const std::vector<std::optional<JudgedAnswer>>& best) const {
    Groups groups;
    for (const std::optional<JudgedAnswer>& each : best)
      groups.emplace_back(static_cast<std::size_t>(options_.samples), each.value_or(JudgedAnswer{}));
    return groups;
  }

  Groups answers(std::span<const TrialTask> tasks, const std::vector<ShownPrograms>& shown, std::size_t first,
                 std::int64_t round) {
    std::vector<TaskPrompt> prompts;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      const std::uint64_t seed =
          seed_of(options_.seed, {answers_of_task, first + i, static_cast<std::uint64_t>(round)});
      prompts.push_back({tasks[i].task,
                         {prompt_(*tasks[i].task, shown[i].exemplars), options_.samples, seed, options_.answer_tokens,
                          options_.grammar(*tasks[i].task)}});
    }
    RolloutSeconds spent;
    return judged_answers(model_, assessor_, prompts, spent);
  }

  void take(TrialTask& task, const std::vector<JudgedAnswer>& answers, const ShownPrograms& shown, ProgramPool& pool,
            std::optional<JudgedAnswer>& best) {
    const RewardContext context{assessor_.empty_plan_hash(*task.task), shown.plan_hashes};
    task.rewards.emplace_back();
    task.plans.emplace_back();
    task.speedups.emplace_back();
    for (const JudgedAnswer& answer : answers) {
      const SampleOutcome& outcome = answer.assessment.outcome;
      const ShapedReward reward = shaped_reward(outcome, context, options_.reward);
      const bool is_right = reward.kind == SampleKind::success || reward.kind == SampleKind::copy;
      task.rewards.back().push_back(reward);
      task.plans.back().push_back(outcome.plan_hash);
      task.speedups.back().push_back(is_right ? outcome.speedup : 0.0);
      if (reward.kind != SampleKind::success) continue;
      if (outcome.speedup > task.best_speedup) best = answer;
      task.best_speedup = std::max(task.best_speedup, outcome.speedup);
      pool.add({outcome.plan_hash, answer.program, outcome.speedup, shown.island});
    }
  }

  LearningModel& model_;
  Assessor& assessor_;
  const MakePrompt& prompt_;
  const TrialOptions& options_;
};

//! Sums of what means are made of.
struct Mean {
  double sum = 0.0, count = 0.0;
  void add(double number) {
    sum += number;
    count += 1.0;
  }
  double value() const { return count > 0.0 ? sum / count : 0.0; }
};

}  // namespace

std::vector<TrialTask> policy_trial(LearningModel& model, Assessor& assessor, std::span<const TrainingTask> tasks,
                                    const MakePrompt& prompt, const TrialOptions& options) {
  std::vector<TrialTask> tried;
  for (const TrainingTask& task : tasks) tried.push_back({&task, {}, {}, {}});
  Trial trial(model, assessor, prompt, options);
  for (std::size_t first = 0; first < tried.size(); first += options.tasks_at_once)
    trial.run(std::span(tried).subspan(first, std::min(options.tasks_at_once, tried.size() - first)), options.first + first);
  return tried;
}

TrialFigures figures_of(std::span<const TrialTask> tasks) {
  Mean success, distinct, reward, later, best, copies;
  for (const TrialTask& task : tasks) {
    Mean of_task, of_later;
    for (std::size_t round = 0; round < task.rewards.size(); ++round)
      for (const ShapedReward& each : task.rewards[round]) {
        if (each.kind == SampleKind::uncounted) continue;
        of_task.add(each.reward);
        copies.add(each.kind == SampleKind::copy ? 1.0 : 0.0);
        if (round > 0) of_later.add(each.reward);
        if (round == 0) success.add(each.kind == SampleKind::success ? 1.0 : 0.0);
      }
    if (!task.plans.empty()) distinct.add(static_cast<double>(distinct_plans(task.plans.front())));
    if (of_task.count > 0.0) reward.add(of_task.value());
    if (of_later.count > 0.0) later.add(of_later.value());
    best.add(task.best_speedup > 0.0 ? std::log(task.best_speedup) : 0.0);
  }
  return {success.value(), distinct.value(), reward.value(), later.value(), best.value(), copies.value()};
}

}  // namespace cudal1
