#include "train/course/sample_log.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "base/result.hpp"
#include "train/data/export_formats.hpp"

namespace cudal1 {
namespace {

JudgedAnswer answer(const std::string& text, const std::string& plan, double speedup) {
  JudgedAnswer made;
  made.answer.text = text;
  made.assessment.outcome.plan_hash = plan;
  made.assessment.outcome.speedup = speedup;
  return made;
}

//! A success, a failure, and one that nobody could judge.
SampledGroup group_of_three(int resampled) {
  SampledGroup group;
  group.prompt = "make it fast";
  group.resampled = resampled;
  group.shown.exemplars.resize(2);
  group.answers = {answer("//! graph", "p1", 1.5), answer("nonsense", "", 0.0), answer("//! drop *", "p2", 3.0)};
  group.rewards = {{SampleKind::success, 0.4}, {SampleKind::failure, -1.0}, {SampleKind::uncounted, 0.0}};
  return group;
}

class SampleLogTest : public ::testing::Test {
 protected:
  SampleLogTest() { task_.task.name = "rows-1"; }
  std::vector<TrainingExample> written() const { return load_examples(folder_.path(), ExamplesOfRun::samples); }

  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_.path() / "samples.jsonl";
  TrainingTask task_;
};

TEST_F(SampleLogTest, EachAnswerThatCountsIsAnExampleWithItsReward) {
  SampleLog log(file_, {});
  log.add(7, 3, task_, group_of_three(0));
  const std::vector<TrainingExample> samples = written();
  ASSERT_EQ(samples.size(), 2u) << "whoever could not be judged is no example";
  EXPECT_EQ(samples[0].task, "rows-1");
  EXPECT_EQ(samples[0].prompt, "make it fast");
  EXPECT_EQ(samples[0].completion, "//! graph");
  EXPECT_EQ(samples[0].plan_hash, "p1");
  EXPECT_EQ(samples[0].exemplars, 2u);
  EXPECT_DOUBLE_EQ(samples[0].reward, 0.4);
  EXPECT_DOUBLE_EQ(samples[0].speedup, 1.5);
  EXPECT_DOUBLE_EQ(samples[1].reward, -1.0);
  EXPECT_DOUBLE_EQ(samples[1].speedup, 0.0);
  EXPECT_EQ(samples[0].group, samples[1].group);
}

TEST_F(SampleLogTest, WhatIsSampledAgainIsAGroupOfItsOwn) {
  SampleLog log(file_, {});
  log.add(7, 3, task_, group_of_three(0));
  log.add(7, 3, task_, group_of_three(1));
  log.add(8, 3, task_, group_of_three(0));
  const std::vector<TrainingExample> samples = written();
  ASSERT_EQ(samples.size(), 6u);
  EXPECT_NE(samples[0].group, samples[2].group);
  EXPECT_NE(samples[0].group, samples[4].group);
}

TEST_F(SampleLogTest, ARunThatGoesOnDropsWhatItWillSampleAgain) {
  nlohmann::json state;
  {
    SampleLog log(file_, {});
    log.add(0, 0, task_, group_of_three(0));
    state = log.state();
    log.add(1, 0, task_, group_of_three(0));
  }
  SampleLog log(file_, state);
  EXPECT_EQ(written().size(), 2u);
  log.add(1, 1, task_, group_of_three(0));
  EXPECT_EQ(written().size(), 4u);
  EXPECT_EQ(written()[2].group, "1-1-0");
  EXPECT_EQ(log.state(), 4);
}

TEST_F(SampleLogTest, ARunThatBeginsAnewDropsEverything) {
  SampleLog(file_, {}).add(0, 0, task_, group_of_three(0));
  const SampleLog log(file_, {});
  EXPECT_TRUE(written().empty());
}

TEST_F(SampleLogTest, AStateThatItDidNotMakeIsRefused) {
  EXPECT_THROW(SampleLog(file_, "many"), Error);
}

}  // namespace
}  // namespace cudal1
