// Worked by hand.
#include "judge/timing_statistics.hpp"

#include <gtest/gtest.h>

namespace cudal1 {
namespace {

std::vector<TimedPair> pairs_with_ratios(const std::vector<double>& ratios) {
  std::vector<TimedPair> pairs;
  for (const double ratio : ratios) pairs.push_back({ratio, 1.0});
  return pairs;
}

TEST(Median, TakesTheMiddleOrTheMeanOfTheTwoMiddleOnes) {
  EXPECT_DOUBLE_EQ(median({3, 1, 2}), 2.0);
  EXPECT_DOUBLE_EQ(median({4, 1, 3, 2}), 2.5);
}

TEST(Rounding, GoesTowardOneAtTwoDecimals) {
  EXPECT_DOUBLE_EQ(round_toward_one(1.118), 1.11);
  EXPECT_DOUBLE_EQ(round_toward_one(0.992), 1.00);
  EXPECT_DOUBLE_EQ(round_toward_one(0.981), 0.99);
  EXPECT_DOUBLE_EQ(round_toward_one(1.10), 1.10);
  EXPECT_DOUBLE_EQ(round_toward_one(1.0), 1.0);
}

TEST(Summary, IsTheMedianOfBucketMediansSoOneOutlierDoesNotCount) {
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
