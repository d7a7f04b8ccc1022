// Intervals of paired differences: small cases worked by hand, coverage on normal draws.
#include "train/bootstrap.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "base/result.hpp"

namespace cudal1 {
namespace {

//! Box and Muller.
double normal(Random& random) {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - random.uniform()));
  return radius * std::cos(2.0 * std::numbers::pi * random.uniform());
}

TEST(BootstrapMean, OfTwoValuesByHand) {
  // Means are 0, 1/2 and 1 with probabilities 1/4, 1/2, 1/4: the 95% interval takes all, the 40% one the middle.
  for (const ScoreTable& table : {ScoreTable{{0.0, 1.0}}, ScoreTable{{0.0}, {1.0}}}) {
    Random random(1);
    const MeanDifference wide = bootstrap_mean(table, {}, random);
    EXPECT_EQ(wide.mean, 0.5);
    EXPECT_EQ(wide.low, 0.0);
    EXPECT_EQ(wide.high, 1.0);
    EXPECT_NEAR(wide.share_above_zero, 0.75, 0.02);
    EXPECT_FALSE(wide.is_above_zero());
    const MeanDifference narrow = bootstrap_mean(table, {.confidence = 0.4}, random);
    EXPECT_EQ(narrow.low, 0.5);
    EXPECT_EQ(narrow.high, 0.5);
    EXPECT_TRUE(narrow.is_above_zero());
  }
}

TEST(BootstrapMean, DrawsSeedsAndTasksEachForItself) {
  // Seeds add 0 or 2, tasks 0 or 1: the mean is 0 only if both seeds and both tasks are the first, 1/16, and so at the
  // other end, 3. Were all four values drawn for themselves, it would be 1/256.
  const ScoreTable table{{0.0, 1.0}, {2.0, 3.0}};
  Random random(2);
  const MeanDifference all = bootstrap_mean(table, {.resamples = 20000, .confidence = 0.9}, random);
  EXPECT_EQ(all.mean, 1.5);
  EXPECT_EQ(all.low, 0.0) << "1/16 is more than the 5% that are cut off";
  EXPECT_EQ(all.high, 3.0);
  EXPECT_NEAR(all.share_above_zero, 15.0 / 16.0, 0.01);
  const MeanDifference inner = bootstrap_mean(table, {.resamples = 20000, .confidence = 0.8}, random);
  EXPECT_EQ(inner.low, 0.5) << "0 and 1/2 have 1/16 and 2/16";
  EXPECT_EQ(inner.high, 2.5);
}

TEST(BootstrapMean, EqualDifferencesLeaveNoDoubt) {
  Random random(3);
  const MeanDifference sure = bootstrap_mean(ScoreTable(3, std::vector<double>(8, 0.25)), {}, random);
  EXPECT_EQ(sure.low, 0.25);
  EXPECT_EQ(sure.high, 0.25);
  EXPECT_EQ(sure.share_above_zero, 1.0);
}

TEST(BootstrapMean, HoldsTheTruthAboutAsOftenAsItSays) {
  Random random(4);
  constexpr int trials = 300;
  int held = 0;
  for (int trial = 0; trial < trials; ++trial) {
    ScoreTable table(1);
    for (int task = 0; task < 40; ++task) table[0].push_back(0.3 + normal(random));
    const MeanDifference interval = bootstrap_mean(table, {.resamples = 600}, random);
    held += interval.low <= 0.3 && 0.3 <= interval.high;
  }
  EXPECT_GT(held, trials * 0.90);
  EXPECT_LT(held, trials * 0.99);
}

TEST(BootstrapMean, WhatSeedsHaveInCommonOfATaskIsNoEvidence) {
  // Three seeds that say the same of each task: the interval is that of one seed, not narrower by the root of 3.
  Random draws(5);
  std::vector<double> tasks;
  for (int task = 0; task < 30; ++task) tasks.push_back(normal(draws));
  Random one(6), other(6);
  const MeanDifference single = bootstrap_mean({tasks}, {}, one);
  const MeanDifference thrice = bootstrap_mean({tasks, tasks, tasks}, {}, other);
  EXPECT_NEAR(thrice.high - thrice.low, single.high - single.low, 0.05 * (single.high - single.low));
}

TEST(BootstrapMean, TheSameRandomnessGivesTheSameInterval) {
  const ScoreTable table{{0.1, 0.4, -0.2, 0.9}, {0.3, 0.2, 0.1, 0.5}};
  Random one(7), other(7);
  const MeanDifference first = bootstrap_mean(table, {}, one), second = bootstrap_mean(table, {}, other);
  EXPECT_EQ(first.low, second.low);
  EXPECT_EQ(first.high, second.high);
}

TEST(PairedDifferences, AreOfTheSameSeedAndTask) {
  EXPECT_EQ(paired_differences({{1.0, 2.0}, {3.0, 4.0}}, {{0.5, 2.5}, {1.0, 4.0}}),
            (ScoreTable{{0.5, -0.5}, {2.0, 0.0}}));
}

TEST(PairedDifferences, TablesThatDoNotFitAreRefused) {
  const ScoreTable two{{1.0, 2.0}};
  EXPECT_THROW(paired_differences(two, {{1.0}}), Error);
  EXPECT_THROW(paired_differences(two, {{1.0, 2.0}, {1.0, 2.0}}), Error);
  EXPECT_THROW(paired_differences({}, {}), Error);
  EXPECT_THROW(paired_differences({{}}, {{}}), Error);
  EXPECT_THROW(paired_differences({{1.0, 2.0}, {1.0}}, two), Error);
  EXPECT_THROW(paired_differences({{1.0, std::nan("")}}, two), Error);
}

TEST(BootstrapMean, RefusesWhatCannotBeDrawnFrom) {
  Random random(8);
  EXPECT_THROW(bootstrap_mean({}, {}, random), Error);
  EXPECT_THROW(bootstrap_mean({{INFINITY}}, {}, random), Error);
  EXPECT_THROW(bootstrap_mean({{1.0}}, {.resamples = 0}, random), Error);
  EXPECT_THROW(bootstrap_mean({{1.0}}, {.confidence = 1.0}, random), Error);
}

}  // namespace
}  // namespace cudal1
