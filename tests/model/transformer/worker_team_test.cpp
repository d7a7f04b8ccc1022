#include "model/transformer/cpu/worker_team.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>

namespace cudal1 {
namespace {

TEST(WorkerTeam, EveryPieceIsDoneOnceAndBeforeTheNextTask) {
  WorkerTeam team(3);
  for (std::uint32_t task = 0; task < 3000; ++task) {
    std::vector<std::atomic<int>> done(task % 17);
    team.run(task % 17, [&](std::uint32_t piece) { done[piece].fetch_add(1); });
    for (const std::atomic<int>& count : done) ASSERT_EQ(count.load(), 1) << "task " << task;
  }
}

TEST(WorkerTeam, ThreadsThatSleepAreWokenByTheNextTask) {
  WorkerTeam team(2);
  for (int task = 0; task < 3; ++task) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    std::atomic<int> done = 0;
    team.run(100, [&](std::uint32_t) { done.fetch_add(1); });
    EXPECT_EQ(done.load(), 100);
  }
}

}  // namespace
}  // namespace cudal1
