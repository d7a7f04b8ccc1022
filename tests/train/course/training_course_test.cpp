// A whole run with a toy learner and a toy judge: however it is ended, what it leaves of its stages is complete.
#include "train/course/training_course.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "base/result.hpp"
#include "device/vgpu/model/gpu_profile.hpp"
#include "sample_graphs.hpp"
#include "toy_learner.hpp"

namespace cudal1 {
namespace {

using testing::ToyAssessor;
using testing::ToyLearner;

class WatchedAssessor : public ToyAssessor {
 public:
  using ToyAssessor::ToyAssessor;
  std::function<void()> judging = [] {};
  std::vector<Assessment> assess(std::span<const SubmittedProgram> programs) override {
    judging();
    return ToyAssessor::assess(programs);
  }
};

//! Four steps of stage 1, after which a task is tried.
class TrainingCourseTest : public ::testing::Test {
 protected:
  TrainingCourseTest() {
    config_.run.stages = {"supervised"};
    config_.run.context_tokens = 100000;  // the toy counts characters
    config_.supervised.epochs = 2;
    config_.supervised.batch = 2;
    config_.supervised.learning_rate = 4.0;
    for (TrainingExample& example : examples_) example.completion = ToyLearner::text_of(3);
    tasks_[0].task.graph = sample::chain();
  }

  CourseEnd train(const std::string& name) {
    model_ = ToyLearner(4);
    return train_with(model_, name);
  }
  CourseEnd train_with(LearningModel& model, const std::string& name) {
    RunFolder folder(folder_.path() / name, config_, "toy");
    write_examples(folder.examples(), examples_);
    if (!known_programs_.empty()) write_file_atomically(folder.path() / "variants.jsonl", known_programs_);
    steps_ = 0;
    const std::span<const TrainingTask> to_train = known_programs_.empty() ? std::span<const TrainingTask>() : tasks_;
    CourseParts parts{&model, &assessor_, to_train, tasks_, vgpu::find_profile("h200")};
    parts.stop = [this] { return steps_ >= stops_after_; };
    parts.say = [this](const std::string& line) { said_.push_back(line); };
    parts.step = [this](const StepReport& report) {
      ++steps_;
      reports_.push_back(report);
    };
    return TrainingCourse(config_, folder, std::move(parts)).run();
  }
  //! The task is one to train on as well, with so many programs of the writer, each twice as fast as the one before.
  void make_known_programs(int count) {
    nlohmann::json right = nlohmann::json::array();
    for (int i = 0; i < count; ++i)
      right.push_back({{"text", ToyLearner::text_of(0)},
                       {"plan_hash", fmt::format("known {}", i)},
                       {"techniques", nlohmann::json::array()},
                       {"speedup", std::pow(2.0, i)}});
    known_programs_ =
        nlohmann::json{{"task", "toy_0"}, {"hash", tasks_[0].task.hash}, {"tried", count}, {"right", right}}.dump() +
        "\n";
  }
  RunHistory history(const std::string& name) const { return RunHistory(folder_.path() / name / "history.jsonl"); }

  TemporaryFolder folder_;
  TrainingConfig config_;
  std::vector<TrainingExample> examples_ = std::vector<TrainingExample>(4);
  std::vector<TrainingTask> tasks_ = testing::toy_tasks(1);
  ToyLearner model_{4};
  WatchedAssessor assessor_{{1.0, 1.2, 0.0, 3.0}};
  std::string known_programs_;  //!< a file of variants
  std::vector<std::string> said_;
  std::vector<StepReport> reports_;
  std::int64_t steps_ = 0, stops_after_ = 1000;
};

TEST_F(TrainingCourseTest, AStageIsValidatedAtItsLastStep) {
  const CourseEnd end = train("whole");
  EXPECT_EQ(end.stages.at(0).steps, 4);
  ASSERT_TRUE(end.stages.at(0).validated);
  EXPECT_EQ(end.stages.at(0).validated->first_success, 1.0) << "it has learned to write a program that is right";
  const auto found = history("whole").validation_at("supervised", 4);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->tasks, 1);
  EXPECT_EQ(found->first_success, 1.0);
}

TEST_F(TrainingCourseTest, WhatAKillHasKeptFromValidationIsValidatedWhenTheRunGoesOn) {
  train("whole");
  assessor_.judging = [] { throw Error("killed"); };
  EXPECT_THROW(train("killed"), Error);
  EXPECT_FALSE(history("killed").validation_at("supervised", 4));
  assessor_.judging = [] {};
  const CourseEnd end = train("killed");
  EXPECT_EQ(steps_, 0) << "nothing is learned again";
  EXPECT_TRUE(end.stages.at(0).validated);
  EXPECT_EQ(history("killed").validations(), history("whole").validations());
  EXPECT_FALSE(train("killed").stages.at(0).validated) << "once is enough";
  EXPECT_TRUE(model_.prompts.empty());
}

TEST_F(TrainingCourseTest, AValidationThatIsCutOffIsNone) {
  assessor_.judging = [this] { stops_after_ = 0; };
  const CourseEnd end = train("stopped");
  EXPECT_TRUE(end.stopped);
  EXPECT_EQ(end.stages.at(0).steps, 4);
  EXPECT_FALSE(end.stages.at(0).validated);
  EXPECT_TRUE(history("stopped").validations().empty());
}

TEST_F(TrainingCourseTest, TheHistoryTellsWhichStartsAStageIsMadeOf) {
  const auto begin = [&](const char* judge) {
    std::filesystem::create_directories(folder_.path() / "run");
    history("run").begin({.begun_s = 1.0, .judge = judge});
  };
  begin("first");
  stops_after_ = 3;
  EXPECT_TRUE(train("run").stopped);
  begin("second");
  stops_after_ = 1000;
  EXPECT_FALSE(train("run").stopped);
  EXPECT_EQ(steps_, 1);
  begin("third");
  EXPECT_FALSE(train("run").stopped);
  const std::vector<RunStart> starts = history("run").starts_of("supervised");
  ASSERT_EQ(starts.size(), 2u);
  EXPECT_EQ(starts[0].judge, "first");
  EXPECT_EQ(starts[1].judge, "second") << "the third had nothing to learn";
}

//! Learns until its numbers are none.
class BreakingLearner : public ToyLearner {
 public:
  BreakingLearner() : ToyLearner(4) {}
  SupervisedUpdate learn(std::span<const PromptAndAnswer> pairs, double learning_rate) override {
    if (steps_until_broken-- > 0) return ToyLearner::learn(pairs, learning_rate);
    answers_until_broken = 0;
    return {.why_skipped = "the gradient is not finite"};
  }
  int steps_until_broken = 1;
};

TEST_F(TrainingCourseTest, WeightsThatGiveNoNumbersStopTheRunWithTheReasonAndAreNotValidated) {
  config_.run.stages = {"supervised", "self_supervised"};
  const std::string reason = "3 steps in a row were left out: the gradient is not finite";
  for (const char* start : {"first", "again"}) {
    SCOPED_TRACE(start);
    BreakingLearner model;
    const CourseEnd end = train_with(model, "broken");
    ASSERT_EQ(end.stages.size(), 1u) << "no stage goes on from there";
    EXPECT_EQ(end.stages[0].why_stopped, reason);
    EXPECT_TRUE(end.stages[0].is_broken);
    EXPECT_FALSE(end.stages[0].validated);
    EXPECT_TRUE(model.prompts.empty()) << "it was not asked";
  }
  EXPECT_TRUE(history("broken").validations().empty());
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "broken" / "adapter"));
}

TEST_F(TrainingCourseTest, WeightsThatBreakAtTheLastStepAreFoundByTheValidation) {
  BreakingLearner model;
  model.steps_until_broken = 3;
  const CourseEnd end = train_with(model, "broken");
  EXPECT_EQ(end.stages.at(0).steps, 4);
  EXPECT_EQ(end.stages.at(0).why_stopped, ScoresNotNumbers().what());
}

TEST_F(TrainingCourseTest, TasksWithTooFewProgramsAreFoundBeforeStage1) {
  config_.run.stages = {"supervised", "contrastive"};
  config_.tasks.spread_programs = 5;
  make_known_programs(4);
  EXPECT_THROW(train("few"), Error);
  EXPECT_EQ(steps_, 0) << "nothing was learned";
  make_known_programs(5);
  config_.contrastive.steps = 1;
  train("enough");
  EXPECT_NE(std::ranges::find(said_, "1 of 1 tasks are kept for stage 3"), said_.end());
}

//! A run whose model writes one of four programs, one of them wrong.
class ContrastiveCourseTest : public TrainingCourseTest {
 protected:
  ContrastiveCourseTest() {
    config_.run.stages = {"contrastive"};
    config_.tasks.least_speed_ratio = 0.0;
    config_.contrastive.steps = 6;
    config_.contrastive.prompts = 1;
    config_.contrastive.warm_up_steps = 0;
    config_.collapse.steps = 1;
    config_.collapse.largest_trick_share = 1.1;
    make_known_programs(4);
  }
};

TEST_F(ContrastiveCourseTest, AStageThatTheWatchStoppedGoesOnUnderOtherLimits) {
  config_.collapse.least_distinct_plans = 100.0;
  const CourseEnd stopped = train("run");
  EXPECT_EQ(stopped.stages.at(0).steps, 1);
  EXPECT_NE(stopped.stages.at(0).why_stopped.find("distinct plans"), std::string::npos);
  EXPECT_EQ(train("run").stages.at(0).why_stopped, stopped.stages.at(0).why_stopped) << "as long as the limit holds";
  EXPECT_EQ(steps_, 0);
  config_.collapse.least_distinct_plans = 0.0;
  const CourseEnd whole = train("run");
  EXPECT_EQ(whole.stages.at(0).steps, 6);
  EXPECT_EQ(whole.stages.at(0).why_stopped, "");
  EXPECT_EQ(steps_, 5);
}

TEST_F(ContrastiveCourseTest, AStageThatTheWatchStoppedAtItsLastStepIsThroughUnderOtherLimits) {
  config_.contrastive.steps = 1;
  config_.collapse.least_distinct_plans = 100.0;
  EXPECT_NE(train("run").stages.at(0).why_stopped, "");
  config_.collapse.least_distinct_plans = 0.0;
  const CourseEnd end = train("run");
  EXPECT_EQ(end.stages.at(0).why_stopped, "");
  EXPECT_FALSE(end.stages.at(0).validated) << "it was validated when it stopped";
  EXPECT_EQ(steps_, 0);
}

TEST_F(ContrastiveCourseTest, TheBestIsTheRunsAlsoAfterGoingOn) {
  config_.collapse.least_distinct_plans = 0.0;
  stops_after_ = 3;
  EXPECT_TRUE(train("run").stopped);
  EXPECT_EQ(reports_.back().best, 3.0);
  stops_after_ = 1000;
  assessor_.program_speedups = {1.0, 1.2, 0.0, 1.1};
  train("run");
  EXPECT_EQ(reports_.back().best, 3.0);
}

TEST_F(TrainingCourseTest, WithoutTasksToValidateWithNothingIsValidated) {
  tasks_.clear();
  EXPECT_FALSE(train("none").stages.at(0).validated);
  EXPECT_TRUE(history("none").validations().empty());
}

}  // namespace
}  // namespace cudal1
