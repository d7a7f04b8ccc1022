// The writer's programs for a run's tasks: what is recorded, and what is said meanwhile.
#include "train/course/variant_store.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "base/files.hpp"
#include "base/result.hpp"
#include "error_of.hpp"
#include "sample_graphs.hpp"
#include "toy_learner.hpp"

namespace cudal1 {
namespace {

//! Everything is right.
class GenerousAssessor : public Assessor {
 public:
  double replaced_share = 1.0;
  std::function<void()> judging = [] {};

  std::vector<Assessment> assess(std::span<const SubmittedProgram> programs) override {
    judging();
    Assessment made;
    made.outcome = {Status::ok, "a plan", 2.0, 1.9, 2.1, replaced_share};
    return std::vector<Assessment>(programs.size(), made);
  }
  std::string empty_plan_hash(const TrainingTask&) override { return "plan of nothing"; }
  AssessorCounts counts() const override { return {}; }
};

class VariantStoreTest : public ::testing::Test {
 protected:
  VariantStoreTest() {
    for (TrainingTask& task : tasks_) task.task.graph = sample::chain();
    options_.variants = 3;
    options_.gpu = vgpu::find_profile("h200");
    options_.tasks_at_once = 1;
    options_.stop = [this] { return is_stopped_; };
    options_.progress = [this](std::size_t done, std::size_t all) { progress_.emplace_back(done, all); };
  }
  VariantStore open() const { return {folder_.path() / "variants.jsonl", options_}; }

  TemporaryFolder folder_;
  std::vector<TrainingTask> tasks_ = testing::toy_tasks(2);
  VariantStoreOptions options_;
  GenerousAssessor assessor_;
  bool is_stopped_ = false;
  std::vector<std::pair<std::size_t, std::size_t>> progress_;
};

using Progress = std::vector<std::pair<std::size_t, std::size_t>>;

TEST_F(VariantStoreTest, WhoIsAskedToStopDuringTheLastTaskDoesNotSayThatAllIsDone) {
  assessor_.judging = [this] { is_stopped_ = progress_.size() == 2; };
  EXPECT_FALSE(open().complete(tasks_, assessor_));
  EXPECT_EQ(progress_, (Progress{{0, 2}, {1, 2}}));
  is_stopped_ = false;
  assessor_.judging = [] {};
  VariantStore again = open();
  EXPECT_TRUE(again.complete(tasks_, assessor_));
  EXPECT_EQ(progress_, (Progress{{0, 2}, {1, 2}, {1, 2}, {2, 2}}));
}

TEST_F(VariantStoreTest, WhatReplacesLessThanASuccessMustIsNone) {
  options_.least_replaced_share = 0.3;
  assessor_.replaced_share = 0.4;
  VariantStore store = open();
  store.complete(std::span(tasks_).first(1), assessor_);
  EXPECT_EQ(store.counts().right, store.counts().tried);
  assessor_.replaced_share = 0.2;
  store.complete(tasks_, assessor_);
  EXPECT_EQ(store.counts().right, 3u);
  EXPECT_EQ(store.counts().tried, 6u);
}

TEST_F(VariantStoreTest, WhatAnotherRunOfTheGpuKnowsIsTakenOverAndTheRestIsJudged) {
  options_.measured_on = "a GPU";
  VariantStore first = open();
  ASSERT_TRUE(first.complete(std::span(tasks_).first(1), assessor_));
  int judged = 0;
  assessor_.judging = [&] { ++judged; };
  options_.known = folder_.path() / "variants.jsonl";
  const auto second = [this] { return VariantStore(folder_.path() / "second.jsonl", options_); };
  VariantStore one = second();
  ASSERT_TRUE(one.complete(tasks_, assessor_));
  EXPECT_EQ(judged, 1) << "the second task";
  EXPECT_EQ(one.of(tasks_[0]).variants.size(), first.of(tasks_[0]).variants.size());
  EXPECT_EQ(one.of(tasks_[0]).variants.front().program.text, first.of(tasks_[0]).variants.front().program.text);
  std::filesystem::remove(options_.known);
  EXPECT_TRUE(second().complete(tasks_, assessor_)) << "by now it has them itself";
  EXPECT_EQ(judged, 1);
}

TEST_F(VariantStoreTest, WhatWasMeasuredOnAnotherGpuIsRefused) {
  options_.measured_on = "a GPU";
  open().complete(tasks_, assessor_);
  options_.known = folder_.path() / "variants.jsonl";
  options_.measured_on = "another";
  VariantStore other(folder_.path() / "second.jsonl", options_);
  EXPECT_EQ(error_of([&] { other.complete(tasks_, assessor_); }),
            options_.known.string() + ": measured on a GPU, but this run measures on another");
  options_.known = folder_.path() / "missing.jsonl";
  VariantStore none(folder_.path() / "second.jsonl", options_);
  EXPECT_EQ(error_of([&] { none.complete(tasks_, assessor_); }), options_.known.string() + ": there is no such file");
}

TEST_F(VariantStoreTest, OfAnOutageNothingIsRecorded) {
  assessor_.judging = [this] {
    if (progress_.size() == 2) throw Error("no judge");
  };
  EXPECT_EQ(error_of([&] { open().complete(tasks_, assessor_); }), "no judge");
  EXPECT_EQ(open().counts().tried, 3u) << "of the first task only";
  assessor_.judging = [] {};
  VariantStore again = open();
  EXPECT_TRUE(again.complete(tasks_, assessor_));
  EXPECT_EQ(again.counts().tried, 6u);
}

}  // namespace
}  // namespace cudal1
