// Worked by hand.
#include "judge/timing_statistics.hpp"

#include <gtest/gtest.h>

namespace cudal1 {
namespace {

Buckets pairs_with_ratios(const std::vector<double>& ratios) {
  std::vector<TimedPair> pairs;
  for (const double ratio : ratios) pairs.push_back({ratio, 1.0});
  return consecutive_buckets(pairs);
}

TEST(Median, TakesTheMiddleOrTheMeanOfTheTwoMiddleOnes) {
  EXPECT_DOUBLE_EQ(median({3, 1, 2}), 2.0);
  EXPECT_DOUBLE_EQ(median({4, 1, 3, 2}), 2.5);
}

TEST(PseudoMedian, IsTheMedianOfTheMeansOfAllPairs) {
  EXPECT_DOUBLE_EQ(pseudo_median({1, 2, 6}), 2.75);  // means 1, 1.5, 2, 3.5, 4, 6
  EXPECT_DOUBLE_EQ(pseudo_median({5}), 5.0);
}

TEST(PseudoMedian, BearsTwoWildValuesInSeven) {
  const double value = pseudo_median({1.00, 1.01, 1.02, 1.03, 1.04, 1e9, 1e9});
  EXPECT_GT(value, 1.0);
  EXPECT_LE(value, 1.04);
}

TEST(Rounding, GoesTowardOneAtTwoDecimals) {
  EXPECT_DOUBLE_EQ(round_toward_one(1.118), 1.11);
  EXPECT_DOUBLE_EQ(round_toward_one(0.992), 1.00);
  EXPECT_DOUBLE_EQ(round_toward_one(0.981), 0.99);
  EXPECT_DOUBLE_EQ(round_toward_one(1.10), 1.10);
  EXPECT_DOUBLE_EQ(round_toward_one(1.0), 1.0);
}

TEST(Summary, IsOfBucketMediansSoOneOutlierDoesNotCount) {
  std::vector<double> ratios(21, 2.0);
  ratios[4] = 1000.0;
  const TimingSummary summary = summarize(pairs_with_ratios(ratios), TimingProtocol::standard);
  EXPECT_DOUBLE_EQ(summary.speedup, 2.0);
  EXPECT_EQ(summary.bucket_values.size(), 7u);
  EXPECT_TRUE(summary.stable);
}

TEST(Summary, FollowsThePaperWithMeansAndAbsoluteVariance) {
  std::vector<double> ratios(21, 2.0);
  ratios[0] = 5.0;  // first bucket: mean 3; variance of {3, 2, 2, 2, 2, 2, 2} is 6/49
  const TimingSummary summary = summarize(pairs_with_ratios(ratios), TimingProtocol::paper);
  EXPECT_DOUBLE_EQ(summary.bucket_values[0], 3.0);
  EXPECT_NEAR(summary.bucket_variance, 6.0 / 49.0, 1e-12);
  EXPECT_FALSE(summary.stable);
  EXPECT_DOUBLE_EQ(summary.speedup, 2.0);
}

TEST(Summary, WeighsAllBucketsWhereThePaperTakesTheMiddleOne) {
  std::vector<double> ratios;
  for (const double bucket : {1.0, 1.0, 1.0, 1.0, 1.1, 1.1, 1.1}) ratios.insert(ratios.end(), 3, bucket);
  EXPECT_DOUBLE_EQ(summarize(pairs_with_ratios(ratios), TimingProtocol::paper).speedup, 1.0);
  EXPECT_DOUBLE_EQ(summarize(pairs_with_ratios(ratios), TimingProtocol::standard).speedup, 1.05);
}

TEST(Summary, CallsDriftUnstable) {
  std::vector<double> ratios;
  for (int bucket = 0; bucket < 7; ++bucket) ratios.insert(ratios.end(), 3, 1.0 + 0.05 * bucket);
  // Buckets 1.00 … 1.30: variance 0.01 over the squared mean 1.3225.
  const TimingSummary summary = summarize(pairs_with_ratios(ratios), TimingProtocol::standard);
  EXPECT_NEAR(summary.bucket_variance, 0.01 / 1.3225, 1e-9);
  EXPECT_FALSE(summary.stable);
}

TEST(Summary, IsATieWhenTheIntervalTouchesOne) {
  EXPECT_TRUE(summarize(pairs_with_ratios(std::vector<double>(70, 1.009)), TimingProtocol::standard).tie);
  EXPECT_FALSE(summarize(pairs_with_ratios(std::vector<double>(70, 1.02)), TimingProtocol::standard).tie);
  EXPECT_FALSE(summarize(pairs_with_ratios(std::vector<double>(70, 0.98)), TimingProtocol::standard).tie);
}

TEST(Summary, HasAnIntervalThatHoldsWhatDiffersFromBucketToBucket) {
  Buckets buckets;
  for (const double center : {0.98, 0.99, 1.0, 1.01, 1.02, 1.03, 1.04})
    buckets.push_back(std::vector<TimedPair>(100, {center, 1.0}));
  // Seven values 0.01 apart: deviation 0.0216, over the root of 7 0.00816, times 2.447.
  const TimingSummary summary = summarize(buckets, TimingProtocol::standard);
  EXPECT_DOUBLE_EQ(summary.speedup, 1.01);
  EXPECT_LE(summary.low, 1.01 - 0.0199);
  EXPECT_GE(summary.high, 1.01 + 0.0199);
}

TEST(Summary, LeavesEmptyBucketsOut) {
  Buckets buckets(7);
  buckets[2] = {{3.0, 1.0}};
  buckets[5] = {{3.0, 1.0}, {3.0, 1.0}};
  const TimingSummary summary = summarize(buckets, TimingProtocol::standard);
  EXPECT_DOUBLE_EQ(summary.speedup, 3.0);
  EXPECT_EQ(summary.pairs, 3);
}

TEST(Reward, IsOneForATieAndTheRoundedSpeedUpElse) {
  const auto summary_of = [](double ratio) {
    return summarize(pairs_with_ratios(std::vector<double>(70, ratio)), TimingProtocol::standard);
  };
  EXPECT_DOUBLE_EQ(reward_of(summary_of(1.009), TimingProtocol::standard), 1.0);
  EXPECT_DOUBLE_EQ(reward_of(summary_of(1.025), TimingProtocol::standard), 1.02);
  EXPECT_DOUBLE_EQ(reward_of(summary_of(0.975), TimingProtocol::standard), 0.98);
  TimingSummary wide = summary_of(1.025);
  wide.tie = true;
  EXPECT_DOUBLE_EQ(reward_of(wide, TimingProtocol::standard), 1.0);
  EXPECT_DOUBLE_EQ(reward_of(wide, TimingProtocol::paper), 1.02);
}

TEST(Buckets, AreConsecutiveAndAsEqualAsCanBe) {
  std::vector<TimedPair> pairs;
  for (int i = 0; i < 16; ++i) pairs.push_back({static_cast<double>(i), 1.0});
  const Buckets buckets = consecutive_buckets(pairs);
  ASSERT_EQ(buckets.size(), 7u);
  double next = 0.0;
  for (const auto& bucket : buckets) {
    EXPECT_GE(bucket.size(), 2u);
    EXPECT_LE(bucket.size(), 3u);
    for (const TimedPair& pair : bucket) EXPECT_DOUBLE_EQ(pair.reference_ms, next++);
  }
}

TEST(Interval, CoversTheMedianAndNarrowsWithMoreValues) {
  std::vector<double> few, many;
  for (int i = 0; i < 21; ++i) few.push_back(i);
  for (int i = 0; i < 2100; ++i) many.push_back(i / 100.0);
  const Interval wide = median_interval(few), narrow = median_interval(many);
  EXPECT_LE(wide.low, 10.0);
  EXPECT_GE(wide.high, 10.0);
  EXPECT_LT(narrow.high - narrow.low, (wide.high - wide.low) / 5.0);
}

TEST(Confirmation, IsAskedForAboveThreeAndAboveTwiceTheBest) {
  EXPECT_TRUE(needs_confirmation(3.01, 0.0));
  EXPECT_TRUE(needs_confirmation(2.1, 1.0));
  EXPECT_FALSE(needs_confirmation(2.9, 2.0));
  EXPECT_TRUE(confirms(4.0, 3.7));
  EXPECT_FALSE(confirms(4.0, 3.5));
}

}  // namespace
}  // namespace cudal1
