#include "train/stages/contrastive_stage.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "base/result.hpp"
#include "toy_learner.hpp"

namespace cudal1 {
namespace {

using testing::ToyAssessor;
using testing::ToyLearner;

//! A group of which a stage has told.
struct Told {
  std::int64_t step = 0;
  std::size_t number = 0;
  int resampled = 0;
  bool operator==(const Told&) const = default;
};

//! All groups of these steps, each once.
std::vector<Told> all_groups(std::int64_t first, std::int64_t count, std::size_t prompts) {
  std::vector<Told> all;
  for (std::int64_t step = first; step < first + count; ++step)
    for (std::size_t number = 0; number < prompts; ++number) all.push_back({step, number, 0});
  return all;
}

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
    return {settings, 17, 10, parts(model, prompt)};
  }
  ContrastiveStage::Parts parts(LearningModel& model, const MakePrompt& prompt = testing::toy_prompt) {
    return {&model, &assessor, tasks, prompt, [this](std::int64_t step, std::size_t number, const SampledGroup& group) {
              told.push_back({step, number, group.resampled});
              groups.push_back(group);
            }};
  }
  //! How many improvements those are that were told of.
  int steps_that_teach() const {
    std::set<std::int64_t> steps;
    for (std::size_t i = 0; i < groups.size(); ++i)
      if (groups[i].action == GroupAction::train) steps.insert(told[i].step);
    return static_cast<int>(steps.size());
  }
  //! What may be shown once this has been found, and nothing else.
  nlohmann::json pools_of_what_was_told() {
    ToyLearner nobody(4);
    ContrastiveStage fresh = stage(nobody);
    for (const SampledGroup& group : groups)
      for (std::size_t i = 0; i < group.answers.size(); ++i) {
        const auto& [answer, program, assessment] = group.answers[i];
        const SampleOutcome& outcome = assessment.outcome;
        if (group.rewards[i].kind == SampleKind::success)
          fresh.add_known(group.task, {outcome.plan_hash, program, outcome.speedup, group.shown.island});
      }
    return fresh.state().at("pools");
  }

  ContrastiveSettings settings;
  std::vector<TrainingTask> tasks;
  ToyAssessor assessor{{1.0, 1.2, 0.0, 3.0}};
  std::vector<SampledGroup> groups;
  std::vector<Told> told;  //!< of each of these
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
  const std::size_t groups_before = groups.size();
  const int improvements = model.improvements;
  stops = true;
  EXPECT_FALSE(cut_off.step());
  EXPECT_EQ(cut_off.state(), before) << "what it found is not kept";
  EXPECT_EQ(groups.size(), groups_before);
  EXPECT_EQ(model.improvements, improvements);
  stops = false;
  EXPECT_TRUE(cut_off.step());
  EXPECT_EQ(model.probabilities(), alone.probabilities());
}

//! Says how often it was asked, to other threads as well.
class CountingLearner : public ToyLearner {
 public:
  using ToyLearner::ToyLearner;
  std::vector<std::vector<SampledAnswer>> answers(std::span<const PromptToAnswer> asked) override {
    auto written = ToyLearner::answers(asked);
    ++asked_times;
    return written;
  }
  std::atomic<int> asked_times = 0;
};

//! Judges only once the model has been asked so often.
class WaitingAssessor : public ToyAssessor {
 public:
  WaitingAssessor(std::vector<double> speedups, const CountingLearner& model)
      : ToyAssessor(std::move(speedups)), model_(model) {}
  std::vector<Assessment> assess(std::span<const SubmittedProgram> programs) override {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (model_.asked_times < asked_before && std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (model_.asked_times < asked_before) waited_in_vain = true;
    if (asked_before > 0) ++asked_before;
    return ToyAssessor::assess(programs);
  }
  std::atomic<int> asked_before = 0;
  std::atomic<bool> waited_in_vain = false;

 private:
  const CountingLearner& model_;
};

TEST_F(ContrastiveStageTest, AheadTheNextAnswersAreWrittenWhileTheseAreJudged) {
  settings.ahead = true;
  settings.steps = 4;
  settings.group.most_resamples = 0;  // so that each step asks once
  CountingLearner model(4);
  WaitingAssessor waiting({1.0, 1.2, 0.0, 3.0}, model);
  waiting.asked_before = 2;
  ContrastiveStage trained(settings, 17, 10, {&model, &waiting, tasks, testing::toy_prompt});
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(trained.step());
    EXPECT_EQ(model.asked_times, i + 2) << "one step ahead";
  }
  waiting.asked_before = 0;  // after the last step there is none
  ASSERT_TRUE(trained.step());
  EXPECT_EQ(model.asked_times, 4);
  EXPECT_FALSE(waiting.waited_in_vain);
}

TEST_F(ContrastiveStageTest, AheadItLearnsFromAnswersOfThePolicyBefore) {
  settings.ahead = true;
  settings.reward.shape = RewardShape::paper;
  ToyLearner model(4);
  ContrastiveStage trained = stage(model);
  while (!trained.is_over()) {
    ASSERT_TRUE(trained.step());
    trained.settle();
  }
  EXPECT_GT(model.probabilities()[3], 0.8);
  EXPECT_FALSE(model.learned_from_earlier.front());
  EXPECT_TRUE(model.learned_from_earlier.at(1));
}

TEST_F(ContrastiveStageTest, AheadAStepThatIsCutOffIsStillToDo) {
  settings.ahead = true;
  settings.group.most_resamples = 0;
  for (const int looks : {0, 1}) {  // that find nobody who asks to stop: before and after the next answers are written
    SCOPED_TRACE(looks);
    told.clear();
    groups.clear();
    ToyLearner model(4);
    int looks_left = 1000;
    ContrastiveStage::Parts stopping = parts(model);
    stopping.stop = [&] { return looks_left-- <= 0; };
    ContrastiveStage trained(settings, 17, 10, stopping);
    for (int i = 0; i < 2; ++i) ASSERT_TRUE(trained.step());
    const nlohmann::json before = trained.state();
    looks_left = looks;
    EXPECT_FALSE(trained.step());
    EXPECT_EQ(trained.state(), before);
    EXPECT_EQ(told, all_groups(0, 2, 2));
    EXPECT_EQ(model.improvements, 2);
    looks_left = 1000;
    EXPECT_EQ(trained.step().value().step, 2);
    EXPECT_EQ(trained.steps_done(), 3);
    EXPECT_EQ(told, all_groups(0, 3, 2));
    EXPECT_EQ(model.learned_from_earlier, (std::vector<bool>{false, true, false})) << "it was written anew";
    EXPECT_EQ(trained.state().at("pools"), pools_of_what_was_told());
    ASSERT_TRUE(trained.step());
    EXPECT_EQ(told, all_groups(0, 4, 2));
    EXPECT_EQ(model.learned_from_earlier, (std::vector<bool>{false, true, false, true})) << "ahead again";
  }
}

TEST_F(ContrastiveStageTest, AheadARunThatIsTakenUpAgainDropsNothingAndDoublesNothing) {
  settings.ahead = true;
  settings.steps = 8;
  settings.group.most_resamples = 0;
  ToyLearner model(4);
  nlohmann::json state;
  {
    ContrastiveStage first = stage(model);
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(first.step());
    state = nlohmann::json::parse(first.state().dump());  // while programs of the next step are judged
  }
  EXPECT_EQ(told, all_groups(0, 3, 2)) << "nobody hears of what is lost";
  ContrastiveStage second = stage(model);
  second.restore(state);
  EXPECT_EQ(second.state(), state);
  while (!second.is_over()) ASSERT_TRUE(second.step());
  EXPECT_EQ(told, all_groups(0, 8, 2));
  EXPECT_EQ(model.improvements, steps_that_teach());
  EXPECT_EQ(model.prompts.size(), std::size_t{2 * (8 + 1)}) << "one step's answers were written twice";
  for (std::size_t i = 0; i < groups.size(); ++i)
    EXPECT_EQ(groups[i].is_earlier, told[i].step != 0 && told[i].step != 3) << told[i].step;
  EXPECT_EQ(second.state().at("pools"), pools_of_what_was_told());
}

TEST_F(ContrastiveStageTest, TheStateOfOtherTasksIsRefused) {
  ToyLearner model(4);
  nlohmann::json state = stage(model).state();
  state["pools"].erase("hash 3");
  ContrastiveStage other = stage(model);
  EXPECT_THROW(other.restore(state), Error);
  EXPECT_EQ(other.steps_done(), 0);
}

TEST_F(ContrastiveStageTest, OneTrickIsNoCollapseWhereNoOtherIsKnownToWork) {
  assessor = ToyAssessor({0.0, 0.0, 0.0, 3.0});
  settings.exemplars.selection.choice = ExemplarChoice::none;
  settings.steps = 12;
  const CollapseLimits limits{.least_entropy = 0.0, .largest_kl = 100.0, .least_distinct_plans = 0.0};
  ToyLearner model(4), other(4);
  ContrastiveStage alone = stage(model), with_choice = stage(other);
  for (std::size_t task = 0; task < tasks.size(); ++task) with_choice.add_known_trick(task, {"technique_1"});
  while (!alone.is_over()) alone.step();
  while (!with_choice.is_over()) with_choice.step();
  EXPECT_EQ(alone.collapse(limits), std::nullopt);
  EXPECT_EQ(with_choice.collapse(limits),
            "100% of the reward where there was a choice comes from 'technique_3' (median of 5 steps)");
  ToyLearner third(4);
  ContrastiveStage resumed = stage(third);
  resumed.restore(with_choice.state());
  EXPECT_EQ(resumed.state(), with_choice.state()) << "tricks are kept";
}

TEST_F(ContrastiveStageTest, WhatTheRunHasSeenIsAChoiceAsWell) {
  ToyLearner model(4);
  ContrastiveStage trained = stage(model);
  ContrastiveStep made;
  for (int i = 0; i < 5; ++i) made = trained.step().value();
  EXPECT_NE(made.figures.trick.trick, "") << "several programs of each task have been right";
}

TEST_F(ContrastiveStageTest, AModelWhoseScoresAreNoNumbersMakesStepsThatAreLeftOut) {
  for (const bool ahead : {false, true}) {
    SCOPED_TRACE(ahead);
    settings.ahead = ahead;
    settings.group.most_resamples = 0;
    ToyLearner model(4);
    model.answers_until_broken = 7;  // in the middle of a step
    ContrastiveStage trained = stage(model);
    ContrastiveStep last;
    std::vector<bool> left_out;
    for (int i = 0; i < 5; ++i) left_out.push_back(!(last = trained.step().value()).update.why_skipped.empty());
    EXPECT_EQ(left_out, (std::vector<bool>{false, false, ahead, true, true}));
    EXPECT_TRUE(last.vitals.skipped);
    EXPECT_FALSE(last.has_update);
    EXPECT_EQ(last.update.why_skipped, ScoresNotNumbers().what());
    EXPECT_EQ(trained.steps_done(), 5);
  }
}

TEST_F(ContrastiveStageTest, AStepThatLearnsNothingHasNoKl) {
  assessor = ToyAssessor({0.0, 0.0, 0.0, 0.0});
  ToyLearner model(4);
  const ContrastiveStep made = stage(model).step().value();
  EXPECT_FALSE(made.has_update);
  EXPECT_FALSE(made.vitals.kl);
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
