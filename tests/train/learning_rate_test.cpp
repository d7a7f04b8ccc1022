#include "train/learning_rate.hpp"

#include <gtest/gtest.h>

namespace cudal1 {
namespace {

TEST(CosineLearningRate, RisesInAStraightLineThenFallsToItsShare) {
  const CosineSchedule schedule{.peak = 2.0, .warm_up_steps = 4, .steps = 14, .last_share = 0.1};
  EXPECT_DOUBLE_EQ(cosine_learning_rate(schedule, 0), 0.5);
  EXPECT_DOUBLE_EQ(cosine_learning_rate(schedule, 3), 2.0);
  EXPECT_DOUBLE_EQ(cosine_learning_rate(schedule, 4), 2.0);
  EXPECT_NEAR(cosine_learning_rate(schedule, 9), 1.1, 1e-12) << "half-way: the mean of 2 and 0.2";
  EXPECT_NEAR(cosine_learning_rate(schedule, 14), 0.2, 1e-12);
  EXPECT_NEAR(cosine_learning_rate(schedule, 1000), 0.2, 1e-12) << "it does not rise again";
}

TEST(CosineLearningRate, NeedsNoWarmUp) {
  const CosineSchedule schedule{.peak = 1.0, .steps = 2};
  EXPECT_DOUBLE_EQ(cosine_learning_rate(schedule, 0), 1.0);
  EXPECT_NEAR(cosine_learning_rate(schedule, 1), 0.5, 1e-12);
  EXPECT_NEAR(cosine_learning_rate(schedule, 2), 0.0, 1e-12);
}

TEST(CosineLearningRate, ARunThatIsAllWarmUpEndsAtThePeak) {
  const CosineSchedule schedule{.peak = 1.0, .warm_up_steps = 3, .steps = 3};
  EXPECT_DOUBLE_EQ(cosine_learning_rate(schedule, 2), 1.0);
  EXPECT_DOUBLE_EQ(cosine_learning_rate(schedule, 3), 1.0);
}

}  // namespace
}  // namespace cudal1
