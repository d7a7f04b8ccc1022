// A run that has stopped learning is stopped, with the reason.
#include "train/collapse_watch.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/result.hpp"

namespace cudal1 {
namespace {

using History = std::vector<StepVitals>;

const StepVitals well{.entropy = 0.5, .kl = 0.05, .distinct_plans = 6.0, .trick = {"fuse", 0.4}, .skipped = false};
const StepVitals skipped{.trick = {}, .skipped = true};

//! Some good steps, then as many of `last`.
History after_good_steps(const StepVitals& last, std::size_t count) {
  History history(10, well);
  history.insert(history.end(), count, last);
  return history;
}

TEST(CollapseReason, ThereIsNoneWhileAllIsWell) {
  EXPECT_FALSE(collapse_reason({}));
  EXPECT_FALSE(collapse_reason(History(100, well)));
}

TEST(CollapseReason, NamesWhatLiesBeyondItsLimitInMostOfTheLastSteps) {
  StepVitals certain = well, far = well, few = well, one_trick = well;
  certain.entropy = 0.01;
  far.kl = 2.5;
  few.distinct_plans = 2.5;
  one_trick.trick.share = 0.95;
  const std::pair<StepVitals, std::string> cases[] = {
      {certain, "the entropy is 0.0100 nats a token, below 0.02 (median of 5 steps)"},
      {far, "the KL to the reference policy is 2.500 nats a token, above 1 (median of 5 steps)"},
      {few, "a group has 2.5 distinct plans, fewer than 3 (median of 5 steps)"},
      {one_trick, "95% of the reward where there was a choice comes from 'fuse' (median of 5 steps)"}};
  for (const auto& [step, reason] : cases) {
    EXPECT_FALSE(collapse_reason(after_good_steps(step, 2))) << "two of five: " << reason;
    EXPECT_EQ(collapse_reason(after_good_steps(step, 3)), reason);
  }
}

TEST(CollapseReason, LimitsThemselvesAreStillWell) {
  StepVitals at_the_limits = well;
  at_the_limits.entropy = 0.02;
  at_the_limits.kl = 1.0;
  at_the_limits.distinct_plans = 3.0;
  EXPECT_FALSE(collapse_reason(History(9, at_the_limits)));
}

TEST(CollapseReason, WaitsForEnoughSteps) {
  StepVitals certain = well;
  certain.entropy = 0.0;
  EXPECT_FALSE(collapse_reason(History(4, certain)));
  EXPECT_TRUE(collapse_reason(History(5, certain)));
  EXPECT_TRUE(collapse_reason(History(1, certain), {.steps = 1}));
  EXPECT_THROW(collapse_reason(History(1, certain), {.steps = 0}), Error);
}

TEST(CollapseReason, TricksThatTakeTurnsAreNoCollapse) {
  History history;
  for (int i = 0; i < 10; ++i) {
    history.push_back(well);
    history.back().trick = {i % 2 == 0 ? "fuse" : "split", 1.0};
  }
  history.back().trick = {"fold", 1.0};
  EXPECT_FALSE(collapse_reason(history));
}

TEST(CollapseReason, StepsWithoutKlOrChoiceAreNotCountedAsZero) {
  StepVitals tie = well, far = well, one_trick = well;
  tie.kl.reset();
  tie.trick = {};
  far.kl = 2.0;
  one_trick.trick = {"fuse", 1.0};
  History ties, choices;
  for (int i = 0; i < 5; ++i) {
    ties.insert(ties.end(), {far, tie, tie});
    choices.insert(choices.end(), {one_trick, tie, tie});
    if (i == 4) break;
    EXPECT_FALSE(collapse_reason(ties)) << "four steps with a KL are too few";
    EXPECT_FALSE(collapse_reason(choices));
  }
  EXPECT_EQ(collapse_reason(ties), "the KL to the reference policy is 2.000 nats a token, above 1 (median of 5 steps)");
  EXPECT_TRUE(collapse_reason(choices));
  EXPECT_FALSE(collapse_reason(History(20, tie))) << "nothing is known of either";
}

TEST(CollapseReason, LossesThatAreNotFiniteStopARunAfterSome) {
  EXPECT_FALSE(collapse_reason(after_good_steps(skipped, 2)));
  EXPECT_EQ(collapse_reason(after_good_steps(skipped, 3)), "the loss was not finite 3 steps in a row");
  History interrupted = after_good_steps(skipped, 2);
  interrupted.push_back(well);
  interrupted.insert(interrupted.end(), 2, skipped);
  EXPECT_FALSE(collapse_reason(interrupted)) << "not in a row, and zeros of skipped steps are no entropy";
}

TEST(CollapseReason, ANumberThatIsNoneIsAReasonAtOnce) {
  StepVitals broken = well;
  broken.kl = std::nan("");
  EXPECT_EQ(collapse_reason(after_good_steps(broken, 1)), "the KL is nan");
}

TEST(LargestTrickShare, IsOfTheRewardsAboveZero) {
  const std::vector<EarnedReward> rewards{{"fuse", 0.5}, {"split", 0.25}, {"fuse", 0.25}, {"none", -1.0}};
  const TrickShare largest = largest_trick_share(rewards);
  EXPECT_EQ(largest.trick, "fuse");
  EXPECT_DOUBLE_EQ(largest.share, 0.75);
  EXPECT_EQ(largest_trick_share({}).share, 0.0);
  EXPECT_EQ(largest_trick_share(std::vector<EarnedReward>{{"none", -1.0}}).trick, "");
  EXPECT_EQ(largest_trick_share(std::vector<EarnedReward>{{"b", 1.0}, {"a", 1.0}}).trick, "a");
  EXPECT_THROW(largest_trick_share(std::vector<EarnedReward>{{"a", std::nan("")}}), Error);
}

TEST(DistinctPlans, DoNotCountAnswersWithoutOne) {
  EXPECT_EQ(distinct_plans(std::vector<std::string>{"a", "b", "", "a", ""}), 2u);
  EXPECT_EQ(distinct_plans({}), 0u);
}

}  // namespace
}  // namespace cudal1
