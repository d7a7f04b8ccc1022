// The judge's clock against the solution's own, on numbers worked by hand.
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace cudal1
