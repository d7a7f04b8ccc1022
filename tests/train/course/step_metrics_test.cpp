#include "train/course/step_metrics.hpp"

#include <gtest/gtest.h>

#include <optional>

namespace cudal1 {
namespace {

TEST(StepMetrics, WhatTheGpuDidIsAddedWhereSomebodyKnows) {
  const StepNumbers plain = numbers_of(ContrastiveStep{});
  const StepNumbers unknown = with_gpu_idle(plain, std::nullopt);
  EXPECT_EQ(unknown.metrics, plain.metrics);
  EXPECT_FALSE(unknown.report.gpu_idle_share);

  const StepNumbers known = with_gpu_idle(plain, GpuIdle{.seconds = 20.0, .share = 0.25, .unlocked_share = 0.125});
  EXPECT_EQ(known.report.gpu_idle_share, 0.25);
  const Metrics further(known.metrics.end() - 3, known.metrics.end());
  EXPECT_EQ(further, (Metrics{{"gpu_idle_share", 0.25}, {"gpu_unlocked_share", 0.125}, {"wall_s", 20.0}}));
  EXPECT_EQ(known.metrics.size(), plain.metrics.size() + 3);
}

}  // namespace
}  // namespace cudal1
