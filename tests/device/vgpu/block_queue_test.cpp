#include "device/vgpu/machine/block_queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "device/vgpu/machine/host_threads.hpp"

namespace cudal1::vgpu {
namespace {

Launch launch_of(std::uint32_t blocks) {
  Launch launch;
  launch.grid = {blocks, 1, 1};
  return launch;
}

TEST(BlockQueue, OneThreadGetsAllInOrder) {
  const Launch launch = launch_of(100);
  BlockQueue queue(launch);
  queue.share_among(1);
  BlockQueue::Places taken;
  for (std::uint64_t place = 0; place < 100; ++place) EXPECT_EQ(queue.next(0, taken), place);
  EXPECT_FALSE(queue.next(0, taken));
}

TEST(BlockQueue, EveryBlockRunsOnceHoweverFastTheThreadsAre) {
  for (const std::uint32_t blocks : {1u, 2u, 3u, 7u, 1000u, 20011u})
    for (const std::size_t threads : {2u, 3u}) {
      const Launch launch = launch_of(blocks);
      BlockQueue queue(launch);
      queue.share_among(threads);
      std::vector<std::atomic<int>> times(blocks);
      run_on_host_threads(threads, [&](std::size_t thread) {
        BlockQueue::Places taken;
        while (const auto place = queue.next(thread, taken)) ++times[*place];
      });
      EXPECT_TRUE(std::ranges::all_of(times, [](const auto& one) { return one == 1; })) << blocks << " " << threads;
    }
}

TEST(BlockQueue, AThreadThatHasNothingLeftTakesFromTheOther) {
  const Launch launch = launch_of(64);
  BlockQueue queue(launch);
  queue.share_among(2);
  std::vector<std::uint64_t> found;
  BlockQueue::Places taken;
  while (const auto place = queue.next(1, taken)) found.push_back(*place);
  EXPECT_EQ(found.size(), 64u);
  EXPECT_EQ(found.front(), 32u);  // its own part first
}

TEST(BlockQueue, BlocksBeforeOneThatFailedStillRunAndNoOthers) {
  const Launch launch = launch_of(64);
  BlockQueue queue(launch);
  queue.share_among(2);
  BlockQueue::Places taken;
  EXPECT_EQ(queue.next(1, taken), 32u);
  queue.fail(32, std::make_exception_ptr(std::runtime_error("second")));
  std::vector<std::uint64_t> found;
  BlockQueue::Places first;
  while (const auto place = queue.next(0, first)) {
    found.push_back(*place);
    if (*place == 20) queue.fail(20, std::make_exception_ptr(std::runtime_error("first")));
  }
  EXPECT_EQ(found.size(), 21u);
  EXPECT_FALSE(queue.next(1, taken));
  EXPECT_THROW(
      try { queue.rethrow(); } catch (const std::runtime_error& error) {
        EXPECT_STREQ(error.what(), "first");
        throw;
      },
      std::runtime_error);
}

}  // namespace
}  // namespace cudal1::vgpu
