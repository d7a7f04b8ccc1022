#include "train/stages/sampled_group.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

namespace cudal1 {
namespace {

JudgedAnswer answer(Status status, const std::string& plan, double speedup, float log_probability = -1.0F) {
  JudgedAnswer made;
  made.answer.tokens = {{1, log_probability, log_probability, false}, {2, -9.0F, -9.0F, true}};
  made.program = "//! fuse a_1";
  made.assessment.outcome = {status, plan, speedup, speedup, speedup, 1.0};
  made.assessment.techniques = {"pointwise"};
  return made;
}

SampledGroup sample_group() {
  SampledGroup group;
  group.shown.plan_hashes = {"shown"};
  group.answers = {answer(Status::ok, "fast", std::exp(1.0)), answer(Status::ok, "shown", 2.0),
                   answer(Status::wrong_result, "wrong", 0.0), answer(Status::judge_error, "lost", 0.0)};
  return group;
}

TEST(SampledGroupTest, AdvantagesAreThoseOfTheSamplesThatCount) {
  SampledGroup group = sample_group();
  weigh(group, "empty", {});
  // rewards 1, 0 (a copy), -1 (a failure); the judge's own failure does not count. Mean 0, deviation sqrt(2/3).
  EXPECT_EQ(group.rewards[0].kind, SampleKind::success);
  EXPECT_EQ(group.rewards[1].kind, SampleKind::copy);
  EXPECT_EQ(group.rewards[2].kind, SampleKind::failure);
  EXPECT_EQ(group.rewards[3].kind, SampleKind::uncounted);
  EXPECT_EQ(group.action, GroupAction::train);
  EXPECT_NEAR(group.advantages[0], std::sqrt(1.5), 1e-9);
  EXPECT_NEAR(group.advantages[1], 0.0, 1e-9);
  EXPECT_NEAR(group.advantages[2], -std::sqrt(1.5), 1e-9);
  EXPECT_EQ(group.advantages[3], 0.0);
}

TEST(SampledGroupTest, AGroupThatTeachesNothingHasNoAdvantages) {
  SampledGroup group = sample_group();
  group.answers = {answer(Status::ok, "one", 2.0), answer(Status::ok, "other", 2.0)};
  weigh(group, "empty", {});
  EXPECT_EQ(group.spread, GroupSpread::tie);
  EXPECT_EQ(group.action, GroupAction::resample);
  EXPECT_EQ(group.advantages, (std::vector<double>{0.0, 0.0}));
  group.resampled = 2;
  weigh(group, "empty", {});
  EXPECT_EQ(group.action, GroupAction::drop);
}

TEST(SampledGroupTest, ThePapersRewardIsSmoothed) {
  SampledGroup group = sample_group();
  group.answers.clear();
  for (int i = 0; i < 9; ++i) group.answers.push_back(answer(Status::ok, fmt::format("plan {}", i), 1.0));
  group.answers.push_back(answer(Status::ok, "record", 11.0));
  ContrastiveSettings settings;
  settings.reward.shape = RewardShape::paper;
  weigh(group, "empty", settings);
  const double with = group.advantages.back();
  settings.smoothing = false;
  weigh(group, "empty", settings);
  // Of 9 ones and an eleven: (11 - 2) / 3 = 3 is cut to 1.5; one of -1/3 and nine times: mean -0.15, deviation 0.55.
  EXPECT_NEAR(group.advantages.back(), 3.0, 1e-9);
  EXPECT_NEAR(with, (1.5 + 0.15) / 0.55, 1e-9);
}

TEST(SampledGroupTest, FiguresOfGroupsWorkedByHand) {
  SampledGroup group = sample_group();
  group.answers[0].assessment.is_known = true;
  weigh(group, "empty", {});
  const GroupFigures figures = figures_of(std::span(&group, 1));
  EXPECT_EQ(figures.samples, 4);
  EXPECT_NEAR(figures.reward, 0.0, 1e-9);
  EXPECT_NEAR(figures.success_rate, 2.0 / 3.0, 1e-9);
  EXPECT_NEAR(figures.copy_rate, 1.0 / 3.0, 1e-9);
  EXPECT_NEAR(figures.known_rate, 0.25, 1e-9);
  EXPECT_NEAR(figures.best_speedup, std::exp(1.0), 1e-9);
  EXPECT_NEAR(figures.mean_log_speedup, (1.0 + std::log(2.0)) / 2.0, 1e-9);
  EXPECT_NEAR(figures.entropy, 1.0, 1e-6) << "forced tokens do not count";
  EXPECT_NEAR(figures.distinct_plans, 4.0, 1e-9);
  EXPECT_EQ(figures.trick.trick, "pointwise");
  EXPECT_EQ(figures.counts.trained, 1);
}

TEST(SampledGroupTest, RewardsWithoutAChoiceOfTricksAreNobodysShare) {
  SampledGroup only_one = sample_group(), with_choice = sample_group();
  only_one.has_choice = false;
  for (JudgedAnswer& answer : with_choice.answers) answer.assessment.techniques = {"graph", "rows"};
  weigh(only_one, "empty", {});
  weigh(with_choice, "empty", {});
  EXPECT_EQ(figures_of(std::span(&only_one, 1)).trick.trick, "");
  const SampledGroup both[] = {only_one, with_choice};
  EXPECT_EQ(figures_of(both).trick.trick, "graph+rows");
  EXPECT_EQ(figures_of(both).trick.share, 1.0);
}

}  // namespace
}  // namespace cudal1
