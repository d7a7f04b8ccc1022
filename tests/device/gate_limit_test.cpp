#include "device/cuda/gate_limit.hpp"

#include <gtest/gtest.h>

namespace cudal1::cuda {
namespace {

using namespace std::chrono_literals;

TEST(GateLimit, FollowsWhatEnqueueingTakesBetweenItsBounds) {
  GateLimit limit;
  EXPECT_EQ(limit.longest_wait(), GateLimit::shortest);
  limit.learn(20us, true);
  EXPECT_EQ(limit.longest_wait(), GateLimit::shortest);
  limit.learn(2ms, false);
  EXPECT_EQ(limit.longest_wait(), 20ms);
  limit.learn(1s, false);
  EXPECT_EQ(limit.longest_wait(), GateLimit::longest);
}

TEST(GateLimit, GivesUpAfterSeveralExpirationsInARow) {
  GateLimit limit;
  for (int i = 0; i < 10; ++i) {
    limit.learn(1ms, false);
    limit.learn(1ms, false);
    limit.learn(1ms, true);
    EXPECT_TRUE(limit.useful());
  }
  for (int i = 0; i < GateLimit::most_expirations; ++i) limit.learn(1ms, false);
  EXPECT_FALSE(limit.useful());
}

}  // namespace
}  // namespace cudal1::cuda
