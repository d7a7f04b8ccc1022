// Rewards of samples; numbers are worked by hand.
#include "train/reward_shaping.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/result.hpp"

namespace cudal1 {
namespace {

SampleOutcome measured(double speedup, const std::string& plan = "new", double replaced = 1.0) {
  return {Status::ok, plan, speedup, 0.99 * speedup, 1.01 * speedup, replaced};
}

const RewardContext context{.empty_plan_hash = "empty", .exemplar_plan_hashes = {"shown", "also shown"}};
const RewardOptions by_log{};
const RewardOptions by_paper{.shape = RewardShape::paper};

TEST(Success, IsVerifiedAndNotEmptyAndReplacesHalfOfTheTime) {
  EXPECT_TRUE(is_success(measured(0.8), "empty"));
  EXPECT_TRUE(is_success(measured(2.0, "new", 0.5), "empty"));
  EXPECT_FALSE(is_success(measured(2.0, "new", 0.49), "empty"));
  EXPECT_FALSE(is_success(measured(1.0, "empty"), "empty")) << "writing nothing is always right";
  SampleOutcome outcome = measured(2.0);
  outcome.status = Status::unstable;
  EXPECT_TRUE(is_success(outcome, "empty")) << "verified, though its time did not settle";
  for (const Status status : {Status::wrong_result, Status::compile_error, Status::parse_error, Status::judge_error}) {
    outcome.status = status;
    EXPECT_FALSE(is_success(outcome, "empty")) << to_string(status);
  }
}

TEST(SampleKind, SaysWhoseFaultItIs) {
  SampleOutcome outcome = measured(2.0);
  EXPECT_EQ(kind_of(outcome, context, by_log), SampleKind::success);
  EXPECT_EQ(kind_of(measured(2.0, "also shown"), context, by_log), SampleKind::copy);
  EXPECT_EQ(kind_of(measured(1.0, "empty"), context, by_log), SampleKind::idle);
  EXPECT_EQ(kind_of(measured(1.2, "new", 0.2), context, by_log), SampleKind::idle);
  outcome.status = Status::wrong_result;
  EXPECT_EQ(kind_of(outcome, context, by_log), SampleKind::failure);
  outcome.status = Status::unstable;
  EXPECT_EQ(kind_of(outcome, context, by_log), SampleKind::uncounted);
  outcome.status = Status::judge_error;
  EXPECT_EQ(kind_of(outcome, context, by_log), SampleKind::uncounted);
}

TEST(LogReward, IsTheLogarithmOfTheSpeedUpWithItsInterval) {
  const ShapedReward reward = shaped_reward(measured(2.0), context, by_log);
  EXPECT_NEAR(reward.reward, 0.693147, 1e-6);
  EXPECT_NEAR(reward.low, 0.683097, 1e-6);   // ln 1.98
  EXPECT_NEAR(reward.high, 0.703098, 1e-6);  // ln 2.02
  EXPECT_NEAR(shaped_reward(measured(0.5), context, by_log).reward, -0.693147, 1e-6);
}

TEST(LogReward, FailingAndWritingNothingCostTheSame) {
  SampleOutcome wrong = measured(5.0);
  wrong.status = Status::wrong_result;
  EXPECT_EQ(shaped_reward(wrong, context, by_log).reward, -1.0);
  EXPECT_EQ(shaped_reward(measured(1.0, "empty"), context, by_log).reward, -1.0);
  EXPECT_EQ(shaped_reward(wrong, context, {.failure_reward = -2.5}).low, -2.5);
}

TEST(LogReward, NoSuccessIsWorseThanFailing) {
  const ShapedReward crawling = shaped_reward(measured(0.01), context, by_log);  // ln 0.01 = -4.6
  EXPECT_EQ(crawling.kind, SampleKind::success);
  EXPECT_EQ(crawling.reward, -1.0);
}

TEST(LogReward, ACopyEarnsNothingAndOneOfASlowProgramKeepsItsLoss) {
  EXPECT_EQ(shaped_reward(measured(3.0, "shown"), context, by_log).reward, 0.0);
  EXPECT_EQ(shaped_reward(measured(3.0, "shown"), context, by_log).low, 0.0);
  EXPECT_NEAR(shaped_reward(measured(0.5, "shown"), context, by_log).reward, -0.693147, 1e-6);
  EXPECT_NEAR(
      shaped_reward(measured(3.0, "shown"), {.empty_plan_hash = "empty", .exemplar_plan_hashes = {}}, by_log).reward,
      1.098612, 1e-6)
      << "not shown in this prompt";
}

TEST(PaperReward, IsTheSpeedUpRoundedTowardOneAndCopiesCount) {
  EXPECT_DOUBLE_EQ(shaped_reward(measured(1.118), context, by_paper).reward, 1.11);
  EXPECT_DOUBLE_EQ(shaped_reward(measured(0.992), context, by_paper).reward, 1.00);
  EXPECT_DOUBLE_EQ(shaped_reward(measured(1.118), context, by_paper).high, 1.12);  // 1.12918
  EXPECT_DOUBLE_EQ(shaped_reward(measured(2.5, "shown"), context, by_paper).reward, 2.5);
  SampleOutcome wrong;
  EXPECT_EQ(shaped_reward(wrong, context, by_paper).reward, 0.0);
}

TEST(ShapedReward, WhatIsNobodysFaultHasNoReward) {
  SampleOutcome outcome = measured(2.0);
  for (const Status status : {Status::unstable, Status::judge_error}) {
    outcome.status = status;
    EXPECT_EQ(shaped_reward(outcome, context, by_log).kind, SampleKind::uncounted);
    EXPECT_EQ(shaped_reward(outcome, context, by_log).reward, 0.0);
  }
}

TEST(ShapedReward, SpeedUpsThatCannotBeAreRefusedWithThePlan) {
  for (const double speedup : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()})
    for (const RewardOptions& options : {by_log, by_paper})
      EXPECT_THROW(shaped_reward(measured(speedup), context, options), Error);
  SampleOutcome half = measured(1.0);
  half.speedup_high = std::nan("");
  EXPECT_THROW(shaped_reward(half, context, by_log), Error);
}

TEST(SmoothedRewards, AreStandardisedAndClipped) {
  // The mean is 1, the variance (4 * 1 + 16) / 5 = 4: -1/2 four times, and 2.
  const std::vector<double> smoothed = smoothed_rewards(std::vector<double>{0, 0, 0, 0, 5});
  EXPECT_EQ(smoothed, (std::vector<double>{-0.5, -0.5, -0.5, -0.5, 1.5})) << "2 is clipped at 1.5";
  EXPECT_EQ(smoothed_rewards(std::vector<double>{0, 0, 0, 0, 5}, 3.0).back(), 2.0);
  EXPECT_EQ(smoothed_rewards(std::vector<double>{-5, 0, 0, 0, 0}).front(), -1.5);
}

TEST(SmoothedRewards, OfEqualOnesAreZeroAndNaNIsRefused) {
  EXPECT_EQ(smoothed_rewards(std::vector<double>{1.1, 1.1, 1.1}), (std::vector<double>{0, 0, 0}));
  EXPECT_TRUE(smoothed_rewards({}).empty());
  EXPECT_THROW(smoothed_rewards(std::vector<double>{1.0, std::nan("")}), Error);
}

TEST(RewardShape, HasANameAndIsFoundByIt) {
  for (const RewardShape shape : {RewardShape::log_speedup, RewardShape::paper})
    EXPECT_EQ(reward_shape_from_string(to_string(shape)), shape);
  EXPECT_FALSE(reward_shape_from_string("linear"));
  EXPECT_EQ(to_string(SampleKind::uncounted), "uncounted");
}

}  // namespace
}  // namespace cudal1
