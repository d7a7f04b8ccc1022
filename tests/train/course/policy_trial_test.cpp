#include "train/course/policy_trial.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "toy_learner.hpp"

namespace cudal1 {
namespace {

ShapedReward shaped(SampleKind kind, double reward) { return {kind, reward, reward, reward}; }

TEST(PolicyTrialTest, FiguresWorkedByHand) {
  TrialTask one, other;
  one.rewards = {{shaped(SampleKind::success, 1.0), shaped(SampleKind::failure, -1.0)},
                 {shaped(SampleKind::copy, 0.0), shaped(SampleKind::success, 2.0)}};
  one.plans = {{"a", ""}, {"a", "b"}};
  one.best_speedup = std::exp(2.0);
  other.rewards = {{shaped(SampleKind::uncounted, 0.0), shaped(SampleKind::idle, -1.0)},
                   {shaped(SampleKind::failure, -1.0), shaped(SampleKind::failure, -1.0)}};
  other.plans = {{"a", "c"}, {"", ""}};
  const TrialFigures figures = figures_of(std::vector<TrialTask>{one, other});
  EXPECT_NEAR(figures.first_success, 1.0 / 3.0, 1e-12) << "of three that count";
  EXPECT_NEAR(figures.first_distinct, 1.5, 1e-12);
  EXPECT_NEAR(figures.reward, (0.5 - 1.0) / 2.0, 1e-12) << "tasks weigh the same";
  EXPECT_NEAR(figures.later_reward, (1.0 - 1.0) / 2.0, 1e-12);
  EXPECT_NEAR(figures.best_log, 1.0, 1e-12);
  EXPECT_NEAR(figures.copy_rate, 1.0 / 7.0, 1e-12);
}

TEST(PolicyTrialTest, LaterRoundsSeeWhatEarlierOnesFoundAndNothingElse) {
  testing::ToyLearner model(4);
  testing::ToyAssessor assessor{{1.0, 1.2, 0.0, 3.0}};
  const std::vector<TrainingTask> tasks = testing::toy_tasks(5);
  std::vector<std::size_t> shown;
  const MakePrompt prompt = [&](const TrainingTask& task, const std::vector<PromptExemplar>& exemplars) {
    shown.push_back(exemplars.size());
    return testing::toy_prompt(task, exemplars);
  };
  TrialOptions options{.rounds = 2, .samples = 8, .tasks_at_once = 2};
  const std::vector<TrialTask> tried = policy_trial(model, assessor, tasks, prompt, options);
  ASSERT_EQ(tried.size(), 5u);
  for (const TrialTask& task : tried) {
    ASSERT_EQ(task.rewards.size(), 2u);
    EXPECT_EQ(task.rewards[0].size(), 8u);
    EXPECT_NEAR(task.best_speedup, 3.0, 1e-12);
  }
  // Two tasks at once: two prompts of the first round, two of the second, and so on.
  EXPECT_EQ(shown, (std::vector<std::size_t>{0, 0, 2, 2, 0, 0, 2, 2, 0, 2}));
}

TEST(PolicyTrialTest, AnswersAreHeldToTheGrammarOfTheirTask) {
  testing::ToyLearner model(4);
  testing::ToyAssessor assessor{{1.0, 1.2, 0.0, 3.0}};
  const std::vector<TrainingTask> tasks = testing::toy_tasks(2);
  TrialOptions options{.rounds = 2, .samples = 3};
  options.grammar = testing::toy_grammar;
  policy_trial(model, assessor, tasks, testing::toy_prompt, options);
  const std::string first = testing::toy_grammar(tasks[0]), second = testing::toy_grammar(tasks[1]);
  EXPECT_EQ(model.asked_grammars, (std::vector<std::string>{first, second, first, second}));
}

TEST(PolicyTrialTest, WhoCopiesTheBestWritesOneRoundAndEarnsNothingByTheOthers) {
  testing::ToyLearner model(4);
  testing::ToyAssessor assessor{{1.0, 1.2, 0.0, 3.0}}, no_judge{{0.0, 0.0, 0.0, 0.0}};
  const std::vector<TrainingTask> tasks = testing::toy_tasks(3);
  const TrialOptions alone{.rounds = 3, .samples = 4, .exemplars = {.selection = {.choice = ExemplarChoice::none}}};
  TrialOptions copying = alone;
  copying.copies_best = true;
  const auto writing = policy_trial(model, assessor, tasks, testing::toy_prompt, alone);
  const std::size_t asked = model.prompts.size();
  const auto copied = policy_trial(model, assessor, tasks, testing::toy_prompt, copying);
  EXPECT_EQ(model.prompts.size() - asked, 3u) << "only the first round is written";
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    EXPECT_EQ(copied[i].plans[0], writing[i].plans[0]);
    for (std::size_t round = 1; round < 3; ++round)
      for (std::size_t k = 0; k < 4; ++k) {
        EXPECT_EQ(copied[i].rewards[round][k].kind, SampleKind::copy);
        EXPECT_EQ(copied[i].rewards[round][k].reward, 0.0);
        EXPECT_EQ(copied[i].speedups[round][k], copied[i].best_speedup);
      }
  }
  for (const TrialTask& task : policy_trial(model, no_judge, tasks, testing::toy_prompt, copying))
    EXPECT_EQ(task.rewards[2][0].kind, SampleKind::failure) << "there was nothing to copy";
}

TEST(PolicyTrialTest, SomeTasksAtATimeAreTriedAsAllTogether) {
  testing::ToyLearner model(4);
  testing::ToyAssessor assessor{{1.0, 1.2, 0.0, 3.0}};
  const std::vector<TrainingTask> tasks = testing::toy_tasks(4);
  TrialOptions options{.rounds = 2, .samples = 4, .tasks_at_once = 2};
  const auto all = policy_trial(model, assessor, tasks, testing::toy_prompt, options);
  options.first = 2;
  const auto last = policy_trial(model, assessor, std::span(tasks).subspan(2), testing::toy_prompt, options);
  EXPECT_EQ(last[1].plans, all[3].plans);
  EXPECT_NE(all[1].plans, all[3].plans);
}

}  // namespace
}  // namespace cudal1
