#include "train/stages/contrastive_stage.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/result.hpp"
#include "toy_learner.hpp"

namespace cudal1 {
namespace {

using testing::ToyAssessor;
using testing::ToyLearner;

class ContrastiveStageTest : public ::testing::Test {
 protected:
  ContrastiveStageTest() : tasks(testing::toy_tasks(5)) {
    settings.steps = 30;
    settings.prompts = 2;
    settings.samples = 8;
    settings.learning_rate = 0.3;
    settings.warm_up_steps = 0;
    settings.exemplars.share_without = 0.0;
  }
  ContrastiveStage stage(LearningModel& model, const MakePrompt& prompt = testing::toy_prompt) {
    return {settings,
            17,
            10,
            {&model, &assessor, tasks, prompt,
             [this](auto, auto, const SampledGroup& group) { groups.push_back(group); }}};
  }

  ContrastiveSettings settings;
  std::vector<TrainingTask> tasks;
  ToyAssessor assessor{{1.0, 1.2, 0.0, 3.0}};
  std::vector<SampledGroup> groups;
};

TEST_F(ContrastiveStageTest, TheFastestProgramIsWrittenMoreAndMore) {
  settings.reward.shape = RewardShape::paper;  // there a copy of what is shown counts as well
  ToyLearner model(4);
  ContrastiveStage trained = stage(model);
  const double first = trained.step().value().figures.reward;
  double last = 0.0;
  while (!trained.is_over()) last = trained.step().value().figures.reward;
  EXPECT_GT(model.probabilities()[3], 0.8);
  EXPECT_LT(model.probabilities()[2], 0.1);
  EXPECT_GT(last, first + 0.5);
}

TEST_F(ContrastiveStageTest, OnlyWhatThePromptShowsCanBeCopied) {
  ToyLearner model(4), other(4);
  ContrastiveStage showing = stage(model);
  while (!showing.is_over()) showing.step();
  const auto copies = [&] { return figures_of(groups).copy_rate; };
  EXPECT_GT(copies(), 0.0);
  groups.clear();
  ContrastiveStage without_room = stage(other, [](const TrainingTask& task, ShownPrograms& shown) {
    shown.keep({});
    return testing::toy_prompt(task, shown);
  });
  while (!without_room.is_over()) without_room.step();
  EXPECT_EQ(copies(), 0.0);
}

TEST_F(ContrastiveStageTest, PromptsShowScoresOfWhatWasFound) {
  ToyLearner model(4);
  ContrastiveStage trained = stage(model);
  for (int i = 0; i < 3; ++i) trained.step();  // of five tasks, two a step: the third step meets the first again
  EXPECT_EQ(groups.front().shown.exemplars.size(), 0u);
  EXPECT_EQ(groups.back().shown.exemplars.size(), 2u);
  EXPECT_NE(model.prompts.back().find('.'), std::string::npos);
}

TEST_F(ContrastiveStageTest, AnswersAreWrittenAndLearnedUnderTheGrammarOfTheirTask) {
  ToyLearner model(4);
  ContrastiveStage::Parts parts{&model, &assessor, tasks, testing::toy_prompt,
                                [this](auto, auto, const SampledGroup& group) { groups.push_back(group); }};
  parts.grammar = testing::toy_grammar;
  ContrastiveStage trained(settings, 17, 10, parts);
  for (int i = 0; i < 3; ++i) trained.step();
  ASSERT_EQ(model.asked_grammars.size(), groups.size());
  std::vector<std::string> learned;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const std::string expected = testing::toy_grammar(tasks[groups[i].task]);
    EXPECT_EQ(model.asked_grammars[i], expected);
    if (groups[i].action == GroupAction::train) learned.insert(learned.end(), groups[i].answers.size(), expected);
  }
  EXPECT_FALSE(learned.empty());
  EXPECT_EQ(model.learned_grammars, learned);
}

TEST_F(ContrastiveStageTest, WithoutExemplarsItIsPlainGrpo) {
  settings.exemplars.selection.choice = ExemplarChoice::none;
  ToyLearner model(4);
  ContrastiveStage trained = stage(model);
  for (int i = 0; i < 6; ++i) trained.step();
  for (const SampledGroup& group : groups) EXPECT_TRUE(group.shown.exemplars.empty());
}

TEST_F(ContrastiveStageTest, KnownProgramsAreShownFromTheFirstStepOn) {
  ToyLearner model(4);
  ContrastiveStage trained = stage(model);
  for (std::size_t task = 0; task < tasks.size(); ++task) trained.add_known(task, {"plan 1", "//! program_1", 1.2});
  trained.step();
  EXPECT_EQ(groups.front().shown.plan_hashes, std::vector<std::string>{"plan 1"});
}

TEST_F(ContrastiveStageTest, AResumedRunHasTheSameNumbers) {
  ToyLearner alone(4);
  ContrastiveStage whole = stage(alone);
  std::vector<double> expected;
  for (int i = 0; i < 12; ++i) expected.push_back(whole.step().value().figures.reward);

  ToyLearner model(4);
  std::vector<double> found;
  nlohmann::json state;
  {
    ContrastiveStage first = stage(model);
    for (int i = 0; i < 5; ++i) found.push_back(first.step().value().figures.reward);
    state = nlohmann::json::parse(first.state().dump());
  }
  ContrastiveStage second = stage(model);
  second.restore(state);
  EXPECT_EQ(second.steps_done(), 5);
  for (int i = 0; i < 7; ++i) found.push_back(second.step().value().figures.reward);
  EXPECT_EQ(found, expected);
  EXPECT_EQ(model.probabilities(), alone.probabilities());
}

TEST_F(ContrastiveStageTest, AStepThatIsCutOffHasNotHappened) {
  ToyLearner alone(4), model(4);
  ContrastiveStage whole = stage(alone);
  for (int i = 0; i < 4; ++i) whole.step();
  groups.clear();

  bool stops = false;
  ContrastiveStage::Parts parts{&model, &assessor, tasks, testing::toy_prompt,
                                [this](auto, auto, const SampledGroup& group) { groups.push_back(group); }};
  parts.stop = [&] { return stops; };
  ContrastiveStage cut_off(settings, 17, 10, parts);
  for (int i = 0; i < 3; ++i) cut_off.step();
  const nlohmann::json before = cut_off.state();
  const std::size_t told = groups.size();
  const int improvements = model.improvements;
  stops = true;
  EXPECT_FALSE(cut_off.step());
  EXPECT_EQ(cut_off.state(), before) << "what it found is not kept";
  EXPECT_EQ(groups.size(), told);
  EXPECT_EQ(model.improvements, improvements);
  stops = false;
  EXPECT_TRUE(cut_off.step());
  EXPECT_EQ(model.probabilities(), alone.probabilities());
}

TEST_F(ContrastiveStageTest, TheStateOfOtherTasksIsRefused) {
  ToyLearner model(4);
  nlohmann::json state = stage(model).state();
  state["pools"].erase("hash 3");
  ContrastiveStage other = stage(model);
  EXPECT_THROW(other.restore(state), Error);
  EXPECT_EQ(other.steps_done(), 0);
}

TEST_F(ContrastiveStageTest, GroupsThatTieAreSampledAgainAndThenDropped) {
  assessor = ToyAssessor({2.0, 2.0, 2.0, 2.0});
  settings.exemplars.selection.choice = ExemplarChoice::none;
  ToyLearner model(4);
  const ContrastiveStep made = stage(model).step().value();
  EXPECT_EQ(made.figures.counts.ties, 2 * 3);
  EXPECT_EQ(made.figures.counts.resampled, 2 * 2);
  EXPECT_EQ(made.figures.counts.dropped, 2);
  EXPECT_EQ(model.improvements, 0) << "nothing to learn, no update";
}

TEST_F(ContrastiveStageTest, GroupsInWhichAllFailAreDroppedAtOnce) {
  assessor = ToyAssessor({0.0, 0.0, 0.0, 0.0});
  ToyLearner model(4);
  const ContrastiveStep made = stage(model).step().value();
  EXPECT_EQ(made.figures.counts.all_failed, 2);
  EXPECT_EQ(made.figures.counts.dropped, 2);
  EXPECT_EQ(model.improvements, 0);
}

}  // namespace
}  // namespace cudal1
