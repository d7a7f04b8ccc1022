#include "tasks/speed_spread.hpp"

#include <gtest/gtest.h>

namespace cudal1 {
namespace {

TEST(SpeedSpread, InterpolatesBetweenNeighbours) {
  EXPECT_DOUBLE_EQ(speed_quantile({3.0, 1.0, 2.0}, 0.5), 2.0);
  EXPECT_DOUBLE_EQ(speed_quantile({1.0, 2.0, 3.0, 4.0, 5.0}, 0.9), 4.6);
  EXPECT_DOUBLE_EQ(speed_quantile({1.0, 2.0}, 0.0), 1.0);
  EXPECT_DOUBLE_EQ(speed_quantile({1.0, 2.0}, 1.0), 2.0);
  EXPECT_DOUBLE_EQ(speed_quantile({}, 0.5), 0.0);
}

TEST(SpeedSpread, OneFastProgramIsNotEnough) {
  std::vector<double> speeds(16, 1.0);
  speeds[3] = 9.0;
  EXPECT_FALSE(is_worth_training(speeds));
  speeds[7] = 1.4;  // the 90th percentile lies between the 14th and 15th of 0 to 15
  EXPECT_FALSE(is_worth_training(speeds));
  speeds[8] = 1.4;
  EXPECT_TRUE(is_worth_training(speeds));
}

TEST(SpeedSpread, NeedsAsManyProgramsAsWereAskedFor) {
  const std::vector<double> speeds{1.0, 2.0, 3.0, 4.0};
  EXPECT_FALSE(is_worth_training(speeds));
  EXPECT_TRUE(is_worth_training(speeds, {4, 1.3}));
  EXPECT_FALSE(is_worth_training(speeds, {4, 4.0}));
  EXPECT_FALSE(is_worth_training({}, {0, 1.0}));
}

}  // namespace
}  // namespace cudal1
