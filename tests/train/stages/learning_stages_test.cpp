// Stages 1 and 2 with a toy learner.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>

#include "base/result.hpp"
#include "toy_learner.hpp"
#include "train/stages/self_supervised_stage.hpp"
#include "train/stages/supervised_stage.hpp"

namespace cudal1 {
namespace {

using testing::ToyAssessor;
using testing::ToyLearner;

std::vector<TrainingExample> examples_of(std::size_t program, std::size_t count) {
  std::vector<TrainingExample> examples(count);
  for (std::size_t i = 0; i < count; ++i) {
    examples[i].prompt = fmt::format("prompt {}", i);
    examples[i].completion = ToyLearner::text_of(program);
  }
  return examples;
}

TEST(SupervisedStageTest, StepsAreEpochsOverBatches) {
  ToyLearner model(4);
  const std::vector<TrainingExample> examples = examples_of(1, 10);
  SupervisedSettings settings{.epochs = 3, .batch = 4};
  EXPECT_EQ(SupervisedStage(settings, 1, model, examples).steps(), 8) << "30 texts in batches of 4";
  EXPECT_THROW(SupervisedStage(settings, 1, model, {}), Error);
}

TEST(SupervisedStageTest, TheLossFallsAndResumedStepsLearnTheSameTexts) {
  ToyLearner model(4), resumed(4);
  const std::vector<TrainingExample> examples = examples_of(1, 10);
  SupervisedSettings settings{.epochs = 4, .batch = 4, .learning_rate = 1.0, .warm_up_steps = 0};
  SupervisedStage stage(settings, 1, model, examples);
  const double first = stage.step().update.loss;
  double last = 0.0;
  while (!stage.is_over()) last = stage.step().update.loss;
  EXPECT_LT(last, 0.5 * first);
  {
    SupervisedStage begun(settings, 1, resumed, examples);
    for (int i = 0; i < 3; ++i) begun.step();
  }
  SupervisedStage again(settings, 1, resumed, examples);
  again.go_on_from(3);
  while (!again.is_over()) again.step();
  EXPECT_EQ(resumed.probabilities(), model.probabilities());
}

TEST(SupervisedStageTest, EveryExampleHasItsTurn) {
  const std::vector<TrainingExample> examples = examples_of(1, 6);
  std::set<std::string> prompts;
  for (std::int64_t step = 0; step < 3; ++step)
    for (const PromptAndAnswer& pair : pairs_of_step(examples, 2, step, 9)) prompts.insert(pair.prompt);
  EXPECT_EQ(prompts.size(), 6u);
}

class SelfSupervisedStageTest : public ::testing::Test {
 protected:
  SelfSupervisedStage stage(
      LearningModel& model, const std::function<bool()>& stop = [] { return false; }) {
    SelfSupervisedStage::Parts parts{
        &model, &assessor, tasks, examples,
        [this](const TrainingTask& task, const std::vector<PromptExemplar>& exemplars, ProgramForm form) {
          forms.push_back(form);
          shown.push_back(exemplars.size());
          return testing::toy_prompt(task, {exemplars, {}, {}});
        }};
    parts.grammar = testing::toy_grammar;
    parts.stop = stop;
    parts.reward = reward;
    SelfSupervisedStage made(settings, 0.5, 3, parts);
    for (std::size_t task = 0; task < tasks.size(); ++task)
      for (int i = 0; i < 3; ++i)
        made.add_known(task, {fmt::format("plan {}", i), ToyLearner::text_of(static_cast<std::size_t>(i)), 1.0 + i});
    return made;
  }

  RewardOptions reward;
  SelfSupervisedSettings settings{.rounds = 8, .samples = 8, .batch = 16, .learning_rate = 0.5};
  std::vector<TrainingTask> tasks = testing::toy_tasks(6);
  std::vector<TrainingExample> examples = examples_of(1, 10);
  ToyAssessor assessor{{0.0, 1.2, 0.0, 0.9}};
  std::vector<ProgramForm> forms;
  std::vector<std::size_t> shown;
};

TEST_F(SelfSupervisedStageTest, WrongProgramsBecomeRareAndSpeedDoesNotMatter) {
  ToyLearner model(4);
  SelfSupervisedStage trained = stage(model);
  const double first = trained.step().value().success_rate;
  double last = 0.0;
  while (!trained.is_over()) last = trained.step().value().success_rate;
  EXPECT_GT(last, first + 0.2);
  EXPECT_GT(model.probabilities()[3], model.probabilities()[0]) << "a slow success is a success";
}

TEST_F(SelfSupervisedStageTest, LearnsEachPlanOfAPromptOnceAndAtMostSoMany) {
  ToyLearner model(4);
  settings.most_plans = 1;
  SelfSupervisedStage trained = stage(model);
  const SelfSupervisedStep made = trained.step().value();
  EXPECT_LE(made.learned, 6) << "one a prompt";
  EXPECT_GT(made.learned, 0);
  EXPECT_EQ(made.samples, 6 * 8);
}

//! Keeps what it is taught.
class WatchedLearner : public ToyLearner {
 public:
  using ToyLearner::ToyLearner;
  std::vector<PromptAndAnswer> learned;
  std::vector<std::size_t> batches;
  SupervisedUpdate learn(std::span<const PromptAndAnswer> pairs, double learning_rate) override {
    learned.insert(learned.end(), pairs.begin(), pairs.end());
    batches.push_back(pairs.size());
    return ToyLearner::learn(pairs, learning_rate);
  }
  std::set<std::string> answers_for(const std::string& task) const {
    std::set<std::string> answers;
    for (const PromptAndAnswer& pair : learned)
      if (pair.prompt.substr(0, pair.prompt.find(' ')) == task) answers.insert(pair.answer);
    return answers;
  }
};

TEST_F(SelfSupervisedStageTest, ATaskHasAtMostSoManyPlansInAllRoundsAlsoAfterGoingOn) {
  assessor = ToyAssessor({1.1, 1.2, 1.3, 1.4});
  settings.most_plans = 2;
  settings.learning_rate = 1e-6;
  settings.samples = 2;
  WatchedLearner model(4);
  SelfSupervisedStage first = stage(model);
  first.step();
  SelfSupervisedStage second = stage(model);
  second.restore(first.steps_done(), nlohmann::json::parse(first.state().dump()));
  while (!second.is_over()) second.step();
  for (const TrainingTask& task : tasks) EXPECT_EQ(model.answers_for(task.task.name).size(), 2u) << task.task.name;
}

TEST_F(SelfSupervisedStageTest, NoMorePairsAreBorrowedThanItHasOfItsOwn) {
  settings.most_plans = 1;
  settings.samples = 1;  // of programs half of which are wrong
  WatchedLearner model(4);
  SelfSupervisedStage trained = stage(model);
  const SelfSupervisedStep made = trained.step().value();
  ASSERT_GT(made.learned, 0);
  ASSERT_LT(made.learned, 8);
  EXPECT_EQ(model.batches.back(), 2 * static_cast<std::size_t>(made.learned));
}

TEST_F(SelfSupervisedStageTest, WhatASuccessIsFollowsTheSetting) {
  assessor.replaced_share = 0.9;
  reward.least_replaced_share = 1.0;
  ToyLearner strict(4);
  EXPECT_EQ(stage(strict).step().value().success_rate, 0.0);
  reward.least_replaced_share = 0.8;
  ToyLearner lenient(4);
  EXPECT_GT(stage(lenient).step().value().success_rate, 0.0);
}

TEST_F(SelfSupervisedStageTest, AModelWhoseScoresAreNoNumbersMakesAStepThatIsLeftOut) {
  ToyLearner model(4);
  model.answers_until_broken = 1;  // of two prompts
  SelfSupervisedStage trained = stage(model);
  const SelfSupervisedStep made = trained.step().value();
  EXPECT_EQ(made.update.why_skipped, ScoresNotNumbers().what());
  EXPECT_FALSE(made.has_update);
  EXPECT_EQ(trained.steps_done(), 1);
}

TEST_F(SelfSupervisedStageTest, AStepThatIsCutOffHasNotHappened) {
  ToyLearner alone(4), model(4);
  bool stops = false;
  SelfSupervisedStage whole = stage(alone), cut_off = stage(model, [&] { return stops; });
  for (int i = 0; i < 3; ++i) whole.step();
  cut_off.step();
  stops = true;
  EXPECT_FALSE(cut_off.step());
  EXPECT_EQ(cut_off.steps_done(), 1);
  stops = false;
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(cut_off.step());
  EXPECT_EQ(model.probabilities(), alone.probabilities());
}

TEST_F(SelfSupervisedStageTest, PromptsShowNoneToTwoProgramsAndAskForBothForms) {
  ToyLearner model(4);
  SelfSupervisedStage trained = stage(model);
  while (!trained.is_over()) trained.step();
  for (std::size_t count = 0; count <= 2; ++count) EXPECT_GT(std::ranges::count(shown, count), 5);
  EXPECT_GT(std::ranges::count(forms, ProgramForm::written_out), 10);
  EXPECT_GT(std::ranges::count(forms, ProgramForm::directives), 10);
}

TEST_F(SelfSupervisedStageTest, AnswersInDirectivesAreHeldToTheGrammarOfTheirTask) {
  ToyLearner model(4);
  SelfSupervisedStage trained = stage(model);
  for (int i = 0; i < 4; ++i) trained.step();
  ASSERT_EQ(model.asked_grammars.size(), forms.size());
  for (std::size_t i = 0; i < forms.size(); ++i) {
    const bool is_free = forms[i] == ProgramForm::written_out;
    const std::string task = model.prompts[i].substr(0, model.prompts[i].find(' '));
    EXPECT_EQ(model.asked_grammars[i], is_free ? "" : "grammar of " + task) << i;
  }
}

TEST_F(SelfSupervisedStageTest, WithoutSuccessesNothingIsLearned) {
  assessor = ToyAssessor({0.0, 0.0, 0.0, 0.0});
  ToyLearner model(4);
  const SelfSupervisedStep made = stage(model).step().value();
  EXPECT_EQ(made.learned, 0);
  EXPECT_FALSE(made.has_update);
  EXPECT_EQ(made.reward, -1.0);
  EXPECT_EQ(made.best_speedup, 0.0);
}

TEST_F(SelfSupervisedStageTest, TellsHowFastSuccessesAre) {
  ToyLearner model(4);
  assessor = ToyAssessor({0.0, 2.0, 2.0, 2.0});
  const SelfSupervisedStep made = stage(model).step().value();
  EXPECT_NEAR(made.mean_log_speedup, std::log(2.0), 1e-12);
  EXPECT_EQ(made.best_speedup, 2.0);
  EXPECT_NEAR(made.reward, made.success_rate * std::log(2.0) - (1.0 - made.success_rate), 1e-12);
  EXPECT_GT(made.success_rate, 0.0);
  EXPECT_LT(made.success_rate, 1.0);
}

}  // namespace
}  // namespace cudal1
