// Advantages of a group and what is done with one; numbers are worked by hand.
#include "train/group_advantages.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/result.hpp"

namespace cudal1 {
namespace {

using Rewards = std::vector<double>;
using Group = std::vector<ShapedReward>;

ShapedReward success(double reward, double reach = 0.03) {
  return {SampleKind::success, reward, reward - reach, reward + reach};
}
const ShapedReward failure{SampleKind::failure, -1.0, -1.0, -1.0};
const ShapedReward idle{SampleKind::idle, -1.0, -1.0, -1.0};
const ShapedReward copy{SampleKind::copy, 0.0, 0.0, 0.0};
const ShapedReward uncounted{};

TEST(GroupAdvantages, AreDistancesFromTheMeanInDeviations) {
  // Mean 2.5, variance (2.25 + 0.25 + 0.25 + 2.25) / 4 = 1.25.
  const Rewards advantages = group_advantages(Rewards{1, 2, 3, 4}, 0.1);
  ASSERT_EQ(advantages.size(), 4u);
  EXPECT_NEAR(advantages[0], -1.341641, 1e-6);
  EXPECT_NEAR(advantages[1], -0.447214, 1e-6);
  EXPECT_NEAR(advantages[2], 0.447214, 1e-6);
  EXPECT_NEAR(advantages[3], 1.341641, 1e-6);
}

TEST(GroupAdvantages, ASmallSpreadIsNotBlownUp) {
  // The deviation of (0, 0.1) is 0.05; with a floor of 0.1 the advantages are half of what they would be.
  const Rewards floored = group_advantages(Rewards{0.0, 0.1}, 0.1);
  EXPECT_NEAR(floored[0], -0.5, 1e-12);
  EXPECT_NEAR(floored[1], 0.5, 1e-12);
  EXPECT_NEAR(group_advantages(Rewards{0.0, 0.1}, 0.0)[1], 1.0, 1e-12);
}

TEST(GroupAdvantages, EqualRewardsTeachNothingWhateverTheFloor) {
  EXPECT_EQ(group_advantages(Rewards{0.1, 0.1, 0.1}, 0.0), (Rewards{0, 0, 0}));
  EXPECT_EQ(group_advantages(Rewards{0.7}, 0.1), Rewards{0});
  EXPECT_TRUE(group_advantages(Rewards{}, 0.1).empty());
}

TEST(GroupAdvantages, WhatDoesNotCountHasNoneAndMovesNobody) {
  const Rewards advantages = group_advantages(Group{success(0.0), uncounted, success(2.0)}, 0.1);
  EXPECT_EQ(advantages, (Rewards{-1.0, 0.0, 1.0}));
}

TEST(GroupAdvantages, RefuseWhatIsNotFinite) {
  EXPECT_THROW(group_advantages(Rewards{1.0, std::nan("")}, 0.1), Error);
  EXPECT_THROW(group_advantages(Rewards{1.0, INFINITY}, 0.1), Error);
  EXPECT_THROW(group_advantages(Rewards{1.0, 2.0}, -0.1), Error);
  EXPECT_THROW(group_advantages(Rewards{1.0, 2.0}, std::nan("")), Error);
}

TEST(GroupSpread, IsATieWhereOneValueLiesInAllIntervals) {
  EXPECT_EQ(spread_of(Group{success(0.50), success(0.53), success(0.56)}), GroupSpread::tie) << "0.53 is in all";
  EXPECT_EQ(spread_of(Group{success(0.50), success(0.53), success(0.57)}), GroupSpread::spread);
  EXPECT_EQ(spread_of(Group{success(0.50), success(0.57)}), GroupSpread::spread);
  EXPECT_EQ(spread_of(Group{success(0.50, 0.2), success(0.60, 0.0)}), GroupSpread::tie);
  EXPECT_EQ(spread_of(Group{copy, copy, success(0.02)}), GroupSpread::tie);
}

TEST(GroupSpread, OneFailureAmongEqualSuccessesTeaches) {
  EXPECT_EQ(spread_of(Group{success(0.5), success(0.5), failure}), GroupSpread::spread);
  EXPECT_EQ(spread_of(Group{copy, failure}), GroupSpread::spread);
}

TEST(GroupSpread, AllFailedAndUnmeasuredAreToldApart) {
  EXPECT_EQ(spread_of(Group{failure, idle, failure}), GroupSpread::all_failed);
  EXPECT_EQ(spread_of(Group{failure, uncounted, failure}), GroupSpread::all_failed);
  EXPECT_EQ(spread_of(Group{success(1.0), uncounted}), GroupSpread::unmeasured);
  EXPECT_EQ(spread_of(Group{}), GroupSpread::unmeasured);
}

TEST(GroupAction, TiesAreSampledAgainTwiceThenDropped) {
  const GroupOptions options;
  for (const GroupSpread spread : {GroupSpread::tie, GroupSpread::unmeasured}) {
    EXPECT_EQ(action_for(spread, 0, options), GroupAction::resample);
    EXPECT_EQ(action_for(spread, 1, options), GroupAction::resample);
    EXPECT_EQ(action_for(spread, 2, options), GroupAction::drop);
  }
  EXPECT_EQ(action_for(GroupSpread::tie, 0, {.most_resamples = 0}), GroupAction::drop);
  EXPECT_EQ(action_for(GroupSpread::all_failed, 0, options), GroupAction::drop);
  EXPECT_EQ(action_for(GroupSpread::spread, 2, options), GroupAction::train);
}

TEST(GroupCounts, AddUp) {
  GroupCounts counts;
  EXPECT_EQ(counts.tie_share(), 0.0);
  counts.add(GroupSpread::tie, GroupAction::resample);
  counts.add(GroupSpread::tie, GroupAction::drop);
  counts.add(GroupSpread::spread, GroupAction::train);
  counts.add(GroupSpread::all_failed, GroupAction::drop);
  counts.add(GroupSpread::unmeasured, GroupAction::resample);
  EXPECT_EQ(counts.sampled, 5);
  EXPECT_EQ(counts.trained, 1);
  EXPECT_EQ(counts.resampled, 2);
  EXPECT_EQ(counts.dropped, 2);
  EXPECT_EQ(counts.ties, 2);
  EXPECT_EQ(counts.all_failed, 1);
  EXPECT_EQ(counts.unmeasured, 1);
  EXPECT_DOUBLE_EQ(counts.tie_share(), 0.4);
}

}  // namespace
}  // namespace cudal1
