// The judge's clock against the solution's own, on numbers worked by hand.
#include <gtest/gtest.h>

#include <random>

#include "dialect/solution_measurement.hpp"

namespace cudal1 {
namespace {

ClockReadings readings(double device_ms, double joined_ms, double total_ms) {
  return {std::vector<double>(50, device_ms), std::vector<double>(50, joined_ms), std::vector<double>(50, total_ms)};
}

TEST(ClockComparison, AgreesWhereTheGapIsTheReferences) {
  const ClockVerdict verdict = compare_clocks(readings(1.0, 1.005, 1.5), readings(0.5, 0.505, 1.0));
  EXPECT_FALSE(verdict.failure);
  EXPECT_EQ(verdict.charged_ms, 0.0);
}

TEST(ClockComparison, FindsWorkOnStreamsThatNobodyJoined) {
  const ClockVerdict verdict = compare_clocks(readings(1.0, 1.005, 1.5), readings(0.1, 0.9, 1.4));
  ASSERT_TRUE(verdict.failure);
  EXPECT_EQ(verdict.failure->status, Status::clock_mismatch);
}

TEST(ClockComparison, FindsAClockThatSaysLessThanTheJudgeWaits) {
  const ClockVerdict verdict = compare_clocks(readings(1.0, 1.005, 1.5), readings(0.001, 0.002, 1.5));
  ASSERT_TRUE(verdict.failure);
  EXPECT_EQ(verdict.failure->status, Status::clock_mismatch);
}

TEST(ClockComparison, ChargesWhatIsTooLittleForAVerdict) {
  const ClockVerdict verdict = compare_clocks(readings(1.0, 1.005, 1.5), readings(0.9, 0.905, 1.5));
  EXPECT_FALSE(verdict.failure);
  EXPECT_NEAR(verdict.charged_ms, 0.09, 1e-9);
}

// Restless by its own doing: the reference is not.
TEST(ClockComparison, ASolutionCannotHideInNoiseOfItsOwn) {
  ClockReadings restless = readings(0.001, 0.002, 1.5);
  for (std::size_t i = 0; i < restless.total_ms.size(); i += 2) restless.total_ms[i] = 9.0;
  const ClockVerdict verdict = compare_clocks(readings(1.0, 1.005, 1.5), restless);
  ASSERT_TRUE(verdict.failure);
  EXPECT_EQ(verdict.failure->status, Status::clock_mismatch);
}

TEST(ClockComparison, ASolutionThatTellsTheTruthNowAndThenIsFoundAllTheSame) {
  ClockReadings half_true = readings(0.001, 0.002, 1.5);
  for (std::size_t i = 0; i < 20; ++i) half_true.device_ms[i] = half_true.joined_ms[i] = 1.0;
  const ClockVerdict verdict = compare_clocks(readings(1.0, 1.005, 1.5), half_true);
  ASSERT_TRUE(verdict.failure);
  EXPECT_EQ(verdict.failure->status, Status::clock_mismatch);
}

TEST(ClockComparison, OnABusyMachineNothingIsBelieved) {
  ClockReadings busy = readings(1.0, 1.005, 1.5);
  for (std::size_t i = 0; i < busy.total_ms.size(); ++i) busy.total_ms[i] += 0.5 * static_cast<double>(i % 10);
  const ClockVerdict verdict = compare_clocks(busy, readings(0.5, 0.505, 1.0));
  ASSERT_TRUE(verdict.failure);
  EXPECT_EQ(verdict.failure->status, Status::unstable);
}

//! Calls of 1.4 ms, of which the clock leaves out `hidden_ms`; to a share of them the machine adds milliseconds.
ClockReadings busy_readings(int calls, double hidden_ms, double disturbed_share, std::mt19937& random) {
  std::normal_distribution<double> scatter(0.0, 0.02);
  std::bernoulli_distribution disturbed(disturbed_share);
  std::exponential_distribution<double> wait_ms(1.0 / 3.0);
  ClockReadings made;
  for (int i = 0; i < calls; ++i) {
    const double took = 1.4 + scatter(random), rest = 0.5 + scatter(random);
    made.device_ms.push_back(took - hidden_ms);
    made.joined_ms.push_back(took - hidden_ms);
    made.total_ms.push_back(took + rest + (disturbed(random) ? wait_ms(random) : 0.0));
  }
  return made;
}

//! Of so many comparisons, how many end in this status.
int count_of(Status status, int comparisons, int calls, double hidden_ms, double disturbed_share) {
  std::mt19937 random(1);
  int found = 0;
  for (int i = 0; i < comparisons; ++i) {
    const ClockReadings reference = busy_readings(calls, 0.0, disturbed_share, random);
    const ClockVerdict verdict = compare_clocks(reference, busy_readings(calls, hidden_ms, disturbed_share, random));
    found += verdict.failure && verdict.failure->status == status;
  }
  return found;
}

constexpr int fewest_calls = 21, calls_of_a_closer_look = 70;

// Two groups of few calls differ by chance, and each alone looks as if it were sure of itself.
TEST(ClockComparison, ADisturbedMachineAccusesNobodyWhoIsHonest) {
  for (const double share : {0.2, 0.4, 0.7, 0.9, 1.0}) {
    EXPECT_LE(count_of(Status::clock_mismatch, 1000, fewest_calls, 0.0, share), 3) << share;
    EXPECT_EQ(count_of(Status::clock_mismatch, 1000, calls_of_a_closer_look, 0.0, share), 0) << share;
  }
}

TEST(ClockComparison, NoiseInAMinorityOfCallsNeitherAccusesNorHidesAnything) {
  constexpr double share = 0.3;
  EXPECT_EQ(count_of(Status::unstable, 200, calls_of_a_closer_look, 0.0, share), 0);
  EXPECT_EQ(count_of(Status::clock_mismatch, 200, calls_of_a_closer_look, 0.0, share), 0);
  EXPECT_EQ(count_of(Status::clock_mismatch, 200, calls_of_a_closer_look, 0.7, share), 200);
}

// Bad luck of the solution's own: the reference's calls, just before and after, were left alone.
TEST(ClockComparison, DisturbancesOfHonestCallsAloneDoNotAccuse) {
  ClockReadings unlucky = readings(1.4, 1.4, 1.9);
  for (std::size_t i = 0; i < unlucky.total_ms.size(); ++i)
    if (i % 5 < 2) unlucky.total_ms[i] += 4.0;
  const ClockVerdict verdict = compare_clocks(readings(1.4, 1.4, 1.9), unlucky);
  EXPECT_FALSE(verdict.failure);
  EXPECT_EQ(verdict.charged_ms, 0.0);
}

// What is suspicious, but may be chance, is not believed either.
TEST(ClockComparison, WhoeverLiesOnABusyMachineIsNeverBelieved) {
  for (const double share : {0.4, 0.7, 0.9}) {
    const int accused = count_of(Status::clock_mismatch, 300, calls_of_a_closer_look, 1.3, share);
    const int doubted = count_of(Status::unstable, 300, calls_of_a_closer_look, 1.3, share);
    EXPECT_EQ(accused + doubted, 300) << share;
  }
}

}  // namespace
}  // namespace cudal1
