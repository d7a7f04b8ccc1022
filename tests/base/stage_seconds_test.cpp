#include "base/stage_seconds.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace cudal1 {
namespace {

TEST(StageSeconds, AddsUpByNameAndBeginsAnew) {
  StageSeconds stages;
  for (int i = 0; i < 2; ++i) {
    const auto timing = stages.time("slow");
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  { const auto timing = stages.time("fast"); }
  const auto seconds = stages.take();
  ASSERT_EQ(seconds.size(), 2u);
  EXPECT_GE(seconds.at("slow"), 0.01);
  EXPECT_LT(seconds.at("fast"), seconds.at("slow"));
  EXPECT_TRUE(stages.take().empty());
}

TEST(StageSeconds, AStageInsideAnotherCountsForItselfAlone) {
  StageSeconds stages;
  {
    const auto around = stages.time("around");
    for (int i = 0; i < 2; ++i) {
      const auto inside = stages.time("inside");
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }
  const auto seconds = stages.take();
  EXPECT_GE(seconds.at("inside"), 0.04);
  EXPECT_LT(seconds.at("around"), 0.02);
}

}  // namespace
}  // namespace cudal1
