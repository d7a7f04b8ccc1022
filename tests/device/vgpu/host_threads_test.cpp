#include "device/vgpu/machine/host_threads.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <latch>
#include <thread>
#include <vector>

namespace cudal1::vgpu {
namespace {

bool does_all_once(std::size_t count) {
  std::vector<std::atomic<int>> times(count);
  run_on_host_threads(count, [&](std::size_t i) { ++times[i]; });
  for (const auto& one : times)
    if (one != 1) return false;
  return true;
}

TEST(HostThreads, EveryNumberOnceTimeAndAgain) {
  for (int round = 0; round < 200; ++round)
    for (const std::size_t count : {1, 2, 5}) EXPECT_TRUE(does_all_once(count));
}

TEST(HostThreads, TheyRunAtTheSameTime) {
  std::latch all(3);  // nobody gets past it alone
  run_on_host_threads(3, [&](std::size_t) { all.arrive_and_wait(); });
}

TEST(HostThreads, SeveralMayAskAtOnce) {
  std::array<bool, 4> right{};
  std::vector<std::jthread> askers;
  for (bool& one : right)
    askers.emplace_back([&one] {
      one = true;
      for (int round = 0; round < 50; ++round) one = one && does_all_once(3);
    });
  askers.clear();
  for (const bool one : right) EXPECT_TRUE(one);
}

TEST(HostThreads, AProcessThatWasForkedOffHasItsOwn) {
  ASSERT_TRUE(does_all_once(2));
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    _exit(does_all_once(2) ? 0 : 1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace cudal1::vgpu
