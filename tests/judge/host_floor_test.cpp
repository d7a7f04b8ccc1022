#include "judge/host_floor.hpp"

#include <gtest/gtest.h>

namespace cudal1 {
namespace {

CallTimes call_of(double enqueue_ms, double device_ms) { return {device_ms, device_ms, enqueue_ms}; }

TEST(HostFloor, TellsCallsInWhichTheHostWasSlow) {
  HostFloor floor;
  for (int i = 0; i < 100; ++i) floor.add(call_of(0.030 + 0.0001 * (i % 20), 0.05));
  EXPECT_LE(floor.disturbance(call_of(0.033, 0.052)), calm_limit);
  EXPECT_GT(floor.disturbance(call_of(0.045, 0.060)), calm_limit);
  EXPECT_NEAR(floor.disturbance(call_of(0.060, 0.080)), 2.0, 0.02);
}

TEST(HostFloor, StaysWhereItIsWhenMostCallsAreDisturbed) {
  HostFloor floor;
  for (int i = 0; i < 100; ++i) floor.add(call_of(i % 10 == 0 ? 0.030 : 0.060, 0.08));
  EXPECT_LE(floor.disturbance(call_of(0.031, 0.08)), calm_limit);
  EXPECT_GT(floor.disturbance(call_of(0.060, 0.08)), calm_limit);
}

TEST(HostFloor, DoesNotFollowOneLuckyCall) {
  HostFloor floor;
  floor.add(call_of(0.010, 0.05));
  for (int i = 0; i < 99; ++i) floor.add(call_of(0.030, 0.05));
  EXPECT_NEAR(floor.disturbance(call_of(0.030, 0.05)), 1.0, 1e-9);
}

TEST(HostFloor, DoesNotCareWhereTheDeviceHidesTheHost) {
  HostFloor floor;
  for (int i = 0; i < 100; ++i) floor.add(call_of(0.030, 1.0));
  EXPECT_DOUBLE_EQ(floor.disturbance(call_of(0.090, 1.0)), 1.0);
}

TEST(HostFloor, CallsTheFirstCallCalm) { EXPECT_DOUBLE_EQ(HostFloor().disturbance(call_of(0.030, 0.05)), 1.0); }

}  // namespace
}  // namespace cudal1
