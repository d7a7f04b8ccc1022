// A whole run with a toy learner and a toy judge: however it is ended, what it leaves of its stages is complete.
#include "train/course/training_course.hpp"

#include <gtest/gtest.h>

#include <functional>

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
    RunFolder folder(folder_.path() / name, config_, "toy");
    write_examples(folder.examples(), examples_);
    model_ = ToyLearner(4);
    steps_ = 0;
    CourseParts parts{&model_, &assessor_, {}, tasks_, vgpu::find_profile("h200")};
    parts.stop = [this] { return steps_ >= stops_after_; };
    parts.step = [this](const StepReport&) { ++steps_; };
    return TrainingCourse(config_, folder, std::move(parts)).run();
  }
  RunHistory history(const std::string& name) const {
    return RunHistory(folder_.path() / name / "history.jsonl");
  }

  TemporaryFolder folder_;
  TrainingConfig config_;
  std::vector<TrainingExample> examples_ = std::vector<TrainingExample>(4);
  std::vector<TrainingTask> tasks_ = testing::toy_tasks(1);
  ToyLearner model_{4};
  WatchedAssessor assessor_{{1.0, 1.2, 0.0, 3.0}};
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

TEST_F(TrainingCourseTest, WithoutTasksToValidateWithNothingIsValidated) {
  tasks_.clear();
  EXPECT_FALSE(train("none").stages.at(0).validated);
  EXPECT_TRUE(history("none").validations().empty());
}

}  // namespace
}  // namespace cudal1
