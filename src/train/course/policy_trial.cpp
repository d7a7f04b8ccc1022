#include "train/course/policy_trial.hpp"

#include <algorithm>
#include <cmath>

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
    for (std::int64_t round = 0; round < options_.rounds; ++round) {
      std::vector<ShownPrograms> shown;
      std::vector<TaskPrompt> prompts;
      for (std::size_t i = 0; i < tasks.size(); ++i) {
        const std::uint64_t number = first + i, turn = static_cast<std::uint64_t>(round);
        Random random(seed_of(options_.seed, {exemplars_of_task, number, turn}));
        shown.push_back(pools[i].draw(random));
        prompts.push_back({tasks[i].task,
                           {prompt_(*tasks[i].task, shown.back().exemplars), options_.samples,
                            seed_of(options_.seed, {answers_of_task, number, turn}), options_.answer_tokens}});
      }
      RolloutSeconds spent;
      const auto groups = judged_answers(model_, assessor_, prompts, spent);
      for (std::size_t i = 0; i < tasks.size(); ++i) take(tasks[i], groups[i], shown[i], pools[i]);
    }
  }

 private:
  void take(TrialTask& task, const std::vector<JudgedAnswer>& answers, const ShownPrograms& shown, ProgramPool& pool) {
    const RewardContext context{assessor_.empty_plan_hash(*task.task), shown.plan_hashes};
    task.rewards.emplace_back();
    task.plans.emplace_back();
    for (const JudgedAnswer& answer : answers) {
      const SampleOutcome& outcome = answer.assessment.outcome;
      task.rewards.back().push_back(shaped_reward(outcome, context, options_.reward));
      task.plans.back().push_back(outcome.plan_hash);
      if (task.rewards.back().back().kind != SampleKind::success) continue;
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
  for (const TrainingTask& task : tasks) tried.push_back({&task, {}, {}});
  Trial trial(model, assessor, prompt, options);
  for (std::size_t first = 0; first < tried.size(); first += options.tasks_at_once)
    trial.run(std::span(tried).subspan(first, std::min(options.tasks_at_once, tried.size() - first)), first);
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
