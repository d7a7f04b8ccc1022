#include "judge/host_influence.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.hpp"
#include "judge/timing_statistics.hpp"

namespace cudal1 {
namespace {

CallTimes call_of(double enqueue_ms, double device_ms) { return {device_ms, device_ms, enqueue_ms}; }

TEST(HostInfluence, TellsCallsInWhichTheHostWasSlow) {
  HostInfluence host;
  for (int i = 0; i < 100; ++i) host.add(call_of(0.030 + 0.0001 * (i % 20), 0.05));
  EXPECT_LT(disturbance(call_of(0.040, 0.055), host.floor()), calm_limit);
  EXPECT_GT(disturbance(call_of(0.050, 0.065), host.floor()), calm_limit);
  EXPECT_NEAR(disturbance(call_of(0.060, 0.080), host.floor()), 2.0, 0.02);
}

TEST(HostInfluence, KnowsTheFloorWhenMostCallsAreDisturbed) {
  HostInfluence host;
  for (int i = 0; i < 100; ++i) host.add(call_of(i % 10 == 0 ? 0.030 : 0.060, 0.08));
  EXPECT_NEAR(host.floor(), 0.030, 1e-9);
}

TEST(HostInfluence, DoesNotFollowOneLuckyCall) {
  HostInfluence host;
  host.add(call_of(0.010, 0.05));
  for (int i = 0; i < 99; ++i) host.add(call_of(0.030, 0.05));
  EXPECT_NEAR(host.floor(), 0.030, 1e-9);
}

TEST(HostInfluence, DoesNotCareWhereTheDeviceHidesTheHost) {
  HostInfluence host;
  for (int i = 0; i < 100; ++i) host.add(call_of(0.030, 1.0));
  EXPECT_DOUBLE_EQ(disturbance(call_of(0.090, 1.0), host.floor()), 1.0);
  EXPECT_DOUBLE_EQ(host.undisturbed_ms(call_of(0.090, 1.0), host.floor()), 1.0);
}

TEST(HostInfluence, CallsTheFirstCallCalm) {
  EXPECT_DOUBLE_EQ(disturbance(call_of(0.030, 0.05), HostInfluence().floor()), 1.0);
}

//! 0.7 of what the host takes longer than 0.030 ms reaches the device, which needs 0.05 ms; one call in ten is late for
//! reasons of its own.
CallTimes launch_bound_call(Random& random, double busiest) {
  const auto share = [&] { return static_cast<double>(random.below(1000)) / 1000.0; };
  const double enqueue_ms = 0.030 * (1.0 + (busiest - 1.0) * share());
  const double hiccup = random.below(10) == 0 ? 0.02 : 0.0;
  return call_of(enqueue_ms, 0.05 + 0.7 * (enqueue_ms - 0.030) + 0.0005 * share() + hiccup);
}

double estimate(std::uint64_t seed, double busiest) {
  Random random(seed);
  HostInfluence host;
  std::vector<CallTimes> calls;
  for (int i = 0; i < 10; ++i) host.add(launch_bound_call(random, 1.02));  // calm moments there always are
  for (int i = 0; i < 150; ++i) host.add(calls.emplace_back(launch_bound_call(random, busiest)));
  std::vector<double> undisturbed;
  for (const CallTimes& call : calls) undisturbed.push_back(host.undisturbed_ms(call, host.floor()));
  return median(undisturbed);
}

TEST(HostInfluence, FindsTheSameTimeOnACalmAndOnABusyMachine) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    EXPECT_NEAR(estimate(seed, 1.05), 0.0503, 0.0006);
    EXPECT_NEAR(estimate(seed, 1.50), 0.0503, 0.0006);
  }
}

TEST(HostInfluence, NeverAddsTimeAndNeverTakesAwayMoreThanTheHostWasLate) {
  Random random(5);
  HostInfluence host;
  std::vector<CallTimes> calls;
  for (int i = 0; i < 200; ++i) {  // device times that fall while the host's rise, and the other way round, steeply
    const double enqueue_ms = 0.030 + 0.0001 * static_cast<double>(random.below(100));
    host.add(calls.emplace_back(call_of(enqueue_ms, i < 100 ? 0.09 - enqueue_ms : 0.05 + 5.0 * (enqueue_ms - 0.03))));
  }
  for (const CallTimes& call : calls) {
    const double undisturbed = host.undisturbed_ms(call, 0.030);
    EXPECT_LE(undisturbed, call.device_ms);
    EXPECT_GE(undisturbed, call.device_ms - (call.enqueue_ms - 0.030) - 1e-12);
  }
}

TEST(HostInfluence, KnowsACandidatesFloorFromTheReferenceOnAMachineThatIsNeverCalm) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Random random(seed);
    const auto noise = [&] { return 1.0 + 0.1 * static_cast<double>(random.below(1000)) / 1000.0; };
    std::vector<CallTimes> reference, candidate;
    for (int i = 0; i < 150; ++i) {
      const double slow = 1.2 + 0.01 * static_cast<double>(random.below(100));  // 1.2 to 2.2 times, the same for both
      reference.push_back(call_of(0.030 * slow * noise(), 0.1));
      candidate.push_back(call_of(0.006 * slow * noise(), 0.1));
    }
    EXPECT_NEAR(host_ratio(reference, candidate), 0.2, 0.003);
    EXPECT_NEAR(host_ratio(candidate, reference), 5.0, 0.075);
  }
}

}  // namespace
}  // namespace cudal1
