#include "judge/host_pace.hpp"

#include <gtest/gtest.h>

#include "base/random.hpp"

namespace cudal1 {
namespace {

CallTimes call_of(double enqueue_ms, double launch_ms) {
  CallTimes call;
  call.enqueue_ms = enqueue_ms;
  call.launch_ms = launch_ms;
  return call;
}

TEST(HostPace, IsTheSameWhereNeighboursSlowTheHostDown) {
  for (const double busiest : {1.0, 3.0}) {
    Random random(7);
    const auto between = [&](double low, double high) {
      return low + (high - low) * static_cast<double>(random.below(1000)) / 1000.0;
    };
    HostPace pace;
    for (int i = 0; i < 200; ++i) {
      const double slow = between(1.0, busiest);
      pace.add(call_of(0.030 * slow * between(0.95, 1.05), nominal_launch_ms * slow * between(0.95, 1.05)));
    }
    EXPECT_NEAR(pace.enqueue_ms(), 0.030, 0.0003);
    EXPECT_LT(pace.uncertainty(), 0.01);
  }
}

TEST(HostPace, IsUncertainAfterAFewCallsThatDiffer) {
  HostPace pace;
  for (const double slow : {1.0, 1.4, 0.8, 1.2}) pace.add(call_of(0.030 * slow, nominal_launch_ms));
  EXPECT_GT(pace.uncertainty(), 0.1);
}

TEST(HostPace, ForgetsTheMachineOfLongAgo) {
  HostPace pace;
  for (int i = 0; i < 4000; ++i) pace.add(call_of(0.030, nominal_launch_ms));
  for (int i = 0; i < 4000; ++i) pace.add(call_of(0.040, nominal_launch_ms));
  EXPECT_NEAR(pace.enqueue_ms(), 0.040, 1e-9);
}

TEST(HostPace, KnowsNothingBeforeTheFirstCall) {
  EXPECT_DOUBLE_EQ(HostPace().enqueue_ms(), 0.0);
  EXPECT_DOUBLE_EQ(HostPace().uncertainty(), 0.0);
}

TEST(HostPace, TakesTheClockAsItIsWhereNoLaunchWasMeasured) {
  EXPECT_DOUBLE_EQ(nominal_enqueue_ms(call_of(0.030, 0.0)), 0.030);
}

TEST(Cost, IsWhatTheSlowerOfHostAndDeviceTakes) {
  CallTimes call;
  call.device_ms = 0.020;
  call.gate = Gate::held;
  EXPECT_DOUBLE_EQ(cost_ms(call, 0.010), 0.020);
  EXPECT_DOUBLE_EQ(cost_ms(call, 0.030), 0.030);
}

TEST(Cost, IsTheDevicesTimeWhereThatHoldsTheHosts) {
  CallTimes call;
  call.device_ms = 0.020;
  call.gate = Gate::unused;
  EXPECT_DOUBLE_EQ(cost_ms(call, 0.030), 0.020);
}

}  // namespace
}  // namespace cudal1
