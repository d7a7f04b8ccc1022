// A trial that is ended and gone on with is the same as one that was left alone.
#include "train/ablation/trial_store.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/files.hpp"
#include "error_of.hpp"
#include "toy_learner.hpp"

namespace cudal1 {
namespace {

class TrialStoreTest : public ::testing::Test {
 protected:
  TrialStore open(const std::string& name = "trial.jsonl") const { return {folder_.path() / name, tasks_, options_}; }

  bool complete(TrialStore& store, std::size_t most_groups = 100) {
    testing::ToyAssessor assessor{{1.0, 1.2, 0.0, 3.0}};
    std::size_t groups = 0;
    return store.complete(
        model_, assessor, testing::toy_prompt, [&] { return ++groups > most_groups; },
        [&](std::size_t done, std::size_t all) { progress_.emplace_back(done, all); });
  }
  std::string text(const std::string& name = "trial.jsonl") const { return read_file(folder_.path() / name); }

  TemporaryFolder folder_;
  std::vector<TrainingTask> tasks_ = testing::toy_tasks(5);
  TrialOptions options_{.rounds = 3, .samples = 4, .seed = 9, .tasks_at_once = 2};
  testing::ToyLearner model_{4};
  std::vector<std::pair<std::size_t, std::size_t>> progress_;
};

TEST_F(TrialStoreTest, OneThatWasEndedGoesOnToTheSameNumbers) {
  TrialStore alone = open("alone.jsonl");
  ASSERT_TRUE(complete(alone));
  EXPECT_EQ(progress_, (std::vector<std::pair<std::size_t, std::size_t>>{{2, 5}, {4, 5}, {5, 5}}));
  TrialStore first = open();
  EXPECT_FALSE(complete(first, 1)) << "somebody asked to stop while the second group was judged";
  EXPECT_EQ(open().done().size(), 2u) << "which is not believed";
  model_.prompts.clear();
  TrialStore second = open();
  EXPECT_TRUE(complete(second));
  EXPECT_EQ(text(), text("alone.jsonl"));
  for (const std::string& prompt : model_.prompts) EXPECT_TRUE(prompt >= "toy_2") << "asked again: " << prompt;
  const TrialStore third = open();
  ASSERT_TRUE(third.is_complete());
  EXPECT_EQ(third.done()[4].rewards[2][3].reward, alone.done()[4].rewards[2][3].reward);
  EXPECT_EQ(third.done()[4].best_speedup, alone.done()[4].best_speedup);
}

TEST_F(TrialStoreTest, TasksDoNotAllGetTheSameAnswers) {
  TrialStore store = open();
  ASSERT_TRUE(complete(store));
  EXPECT_FALSE(std::ranges::all_of(store.done(), [&](const TrialTask& task) { return task.plans == store.done()[0].plans; }));
}

TEST_F(TrialStoreTest, WhatIsOfAnotherTrialIsRefused) {
  TrialStore store = open();
  ASSERT_TRUE(complete(store));
  const std::string file = (folder_.path() / "trial.jsonl").string();
  options_.samples = 5;
  EXPECT_EQ(error_of([&] { open(); }),
            file + ":1: it does not have 3 rounds of 5 samples; remove the file, and its trial is made again");
  options_.samples = 4;
  tasks_[1].task.hash = "another";
  EXPECT_EQ(error_of([&] { open(); }), file + ":2: it is of another task; remove the file, and its trial is made again");
  write_file_atomically(file, "{\n");
  EXPECT_EQ(error_of([&] { open(); }), file + ":1: cannot be read; remove the file, and its trial is made again");
}

}  // namespace
}  // namespace cudal1
