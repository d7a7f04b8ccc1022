#include "train/course/step_metrics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>

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

bool has(const StepNumbers& numbers, const std::string& name) {
  return std::ranges::find(numbers.metrics, name, &Metrics::value_type::first) != numbers.metrics.end();
}

TEST(StepMetrics, AStepThatLearnedNothingHasNeitherLossNorKl) {
  ContrastiveStep step;
  EXPECT_FALSE(has(numbers_of(step), "reward")) << "there was no sample";
  step.figures.samples = 1;
  for (const bool has_update : {false, true}) {
    step.has_update = has_update;
    const StepNumbers made = numbers_of(step);
    EXPECT_EQ(has(made, "loss"), has_update);
    EXPECT_EQ(has(made, "kl"), has_update);
    EXPECT_EQ(made.report.kl.has_value(), has_update);
    EXPECT_TRUE(has(made, "entropy"));
  }
  EXPECT_FALSE(has(numbers_of(SelfSupervisedStep{}), "loss"));
}

}  // namespace
}  // namespace cudal1
