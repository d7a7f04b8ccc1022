// Answers on their way to the judge.
#include "train/stages/judged_answers.hpp"

#include <gtest/gtest.h>

#include "toy_learner.hpp"

namespace cudal1 {
namespace {

//! Has measured every other program before.
class RememberingAssessor : public testing::ToyAssessor {
 public:
  using ToyAssessor::ToyAssessor;
  std::vector<Assessment> assess(std::span<const SubmittedProgram> programs) override {
    std::vector<Assessment> assessments = ToyAssessor::assess(programs);
    for (std::size_t i = 1; i < assessments.size(); i += 2) assessments[i].is_known = true;
    return assessments;
  }
};

TEST(JudgedAnswers, WhatWasOnlyLookedUpIsNoEvaluation) {
  const std::vector<TrainingTask> tasks = testing::toy_tasks(1);
  const std::vector<TaskPrompt> prompts{{&tasks[0], {}}};
  std::vector<std::vector<JudgedAnswer>> groups(1, std::vector<JudgedAnswer>(5));
  for (std::size_t i = 0; i < 4; ++i) groups[0][i].program = testing::ToyLearner::text_of(i);
  RememberingAssessor assessor({1.0, 1.2, 0.0, 3.0});
  RolloutSeconds spent;
  judge(assessor, prompts, groups, spent);
  EXPECT_EQ(spent.programs, 2) << "of four, the fifth answer has none";
  EXPECT_TRUE(groups[0][3].assessment.is_known);
}

}  // namespace
}  // namespace cudal1
