#include "judge/host_pace.hpp"

#include <gtest/gtest.h>

#include "base/random.hpp"

namespace cudal1 {
namespace {

TEST(HostPace, IsKnownWhenMostCallsAreDisturbed) {
  HostPace pace;
  for (int i = 0; i < 100; ++i) pace.add(i % 10 == 0 ? 0.030 : 0.060);
  EXPECT_DOUBLE_EQ(pace.undisturbed_ms(), 0.030);
}

TEST(HostPace, DoesNotFollowOneLuckyCall) {
  HostPace pace;
  pace.add(0.010);
  for (int i = 0; i < 99; ++i) pace.add(0.030);
  EXPECT_DOUBLE_EQ(pace.undisturbed_ms(), 0.030);
}

TEST(HostPace, ForgetsTheMachineOfLongAgo) {
  HostPace pace;
  for (int i = 0; i < 4000; ++i) pace.add(0.030);
  for (int i = 0; i < 4000; ++i) pace.add(0.040);
  EXPECT_DOUBLE_EQ(pace.undisturbed_ms(), 0.040);
}

TEST(HostPace, KnowsNothingBeforeTheFirstCall) { EXPECT_DOUBLE_EQ(HostPace().undisturbed_ms(), 0.0); }

TEST(HostRatio, IsFoundOnAMachineThatIsNeverCalm) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Random random(seed);
    const auto noise = [&] { return 1.0 + 0.1 * static_cast<double>(random.below(1000)) / 1000.0; };
    std::vector<double> reference, candidate;
    for (int i = 0; i < 150; ++i) {
      const double slow = 1.2 + 0.01 * static_cast<double>(random.below(100));  // 1.2 to 2.2 times, the same for both
      reference.push_back(0.030 * slow * noise());
      candidate.push_back(0.006 * slow * noise());
    }
    EXPECT_NEAR(host_ratio(reference, candidate), 0.2, 0.003);
    EXPECT_NEAR(host_ratio(candidate, reference), 5.0, 0.075);
  }
}

TEST(Cost, IsWhatTheSlowerOfHostAndDeviceTakes) {
  const CallTimes call{.device_ms = 0.020, .host_ms = 0.025, .enqueue_ms = 0.015, .gate = Gate::held};
  EXPECT_DOUBLE_EQ(cost_ms(call, 0.010), 0.020);
  EXPECT_DOUBLE_EQ(cost_ms(call, 0.030), 0.030);
}

TEST(Cost, IsTheDevicesTimeWhereThatHoldsTheHosts) {
  const CallTimes call{.device_ms = 0.020, .host_ms = 0.025, .enqueue_ms = 0.015, .gate = Gate::unused};
  EXPECT_DOUBLE_EQ(cost_ms(call, 0.030), 0.020);
}

}  // namespace
}  // namespace cudal1
