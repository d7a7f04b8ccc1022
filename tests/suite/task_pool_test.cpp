#include "suite/task_pool.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include "base/host_memory.hpp"
#include "suite/passing_queue.hpp"

namespace cudal1 {
namespace {

//! How many jobs ran at the same time, at most.
class Crowd {
 public:
  JobEnd visit() {
    const int now = ++inside_;
    int seen = most_;
    while (now > seen && !most_.compare_exchange_weak(seen, now)) {
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    --inside_;
    return JobEnd::done;
  }
  int most() const { return most_; }

 private:
  std::atomic<int> inside_ = 0, most_ = 0;
};

TEST(TaskPool, DoesEveryJobOnceAndNotTooManyTogether) {
  Crowd crowd;
  std::vector<std::atomic<int>> calls(40);
  run_jobs(calls.size(), {.jobs = 4}, [&](std::size_t job) {
    ++calls[job];
    return crowd.visit();
  });
  for (const auto& count : calls) EXPECT_EQ(count, 1);
  EXPECT_LE(crowd.most(), 4);
  EXPECT_GT(crowd.most(), 1);
}

TEST(TaskPool, RunsOneAtATimeWhereMemoryIsShort) {
  Crowd crowd;
  run_jobs(8, {.jobs = 8, .bytes_per_job = free_memory_bytes() / 2 * 3}, [&](std::size_t) { return crowd.visit(); });
  EXPECT_EQ(crowd.most(), 1);
}

TEST(TaskPool, WhatWasShortOfMemoryIsTriedOnceMoreAlone) {
  std::mutex mutex;
  std::vector<std::size_t> calls;
  run_jobs(6, {.jobs = 3}, [&](std::size_t job) {
    const std::lock_guard lock(mutex);
    calls.push_back(job);
    return job % 2 == 0 ? JobEnd::short_of_memory : JobEnd::done;
  });
  ASSERT_EQ(calls.size(), 9u);
  EXPECT_EQ(std::vector<std::size_t>(calls.begin() + 6, calls.end()), (std::vector<std::size_t>{0, 2, 4}));
}

TEST(TaskPool, OfThoseThatWaitTheFirstThatMayBeginsAndNoneIsPassedForEver) {
  // Number 0 needs all of four places, the others one each: as many as there are pass it, but not all.
  std::mutex mutex;
  int taken = 0;
  std::vector<std::size_t> begun;
  std::atomic<bool> is_open = false;  // the first is kept out until others run
  const auto places = [](std::size_t job) { return job == 0 ? 4 : 1; };
  PoolLimits limits{.jobs = 4};
  limits.may_begin = [&](std::size_t job) {
    const std::lock_guard lock(mutex);
    if (taken + places(job) > 4 || (job == 0 && !is_open)) return false;
    taken += places(job);
    begun.push_back(job);
    return true;
  };
  run_jobs(40, limits, [&](std::size_t job) {
    is_open = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    const std::lock_guard lock(mutex);
    taken -= places(job);
    return JobEnd::done;
  });
  ASSERT_EQ(begun.size(), 40u);
  const auto place = std::ranges::find(begun, 0u) - begun.begin();
  EXPECT_GT(place, 0);
  EXPECT_LE(place, PassingQueue<std::size_t>::most_passed);
}

TEST(TaskPool, WhoeverComesAgainComesUntilItIsDone) {
  std::vector<std::atomic<int>> calls(12);
  run_jobs(calls.size(), {.jobs = 3}, [&](std::size_t job) {
    return static_cast<std::size_t>(++calls[job]) <= job % 4 ? JobEnd::again : JobEnd::done;
  });
  for (std::size_t job = 0; job < calls.size(); ++job) EXPECT_EQ(calls[job], static_cast<int>(job % 4) + 1) << job;
}

TEST(TaskPool, KnowsTheMessagesOfThoseWhoRanOut) {
  EXPECT_TRUE(says_short_of_memory("module.py: Python was ended by signal 9"));
  EXPECT_TRUE(says_short_of_memory("DefaultCPUAllocator: not enough memory: you tried to allocate 1 bytes"));
  EXPECT_TRUE(says_short_of_memory("CUDA out of memory. Tried to allocate 2.00 GiB"));
  EXPECT_TRUE(says_short_of_memory("CUDA error: out of memory"));
  EXPECT_TRUE(says_short_of_memory("the program needs 46.5 GiB of device memory, 43.3 GiB are free"));
  EXPECT_TRUE(says_short_of_memory("make a context: out of memory (CUDA_ERROR_OUT_OF_MEMORY)"));
  EXPECT_TRUE(says_short_of_memory("RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling cublasCreate"));
  EXPECT_TRUE(says_short_of_memory("no memory left to check the program: the judge's own process is at its limit"));
  EXPECT_FALSE(says_short_of_memory("an illegal memory access was encountered"));
  EXPECT_FALSE(says_short_of_memory("Python was ended by signal 11"));
  EXPECT_FALSE(says_short_of_memory(""));
}

}  // namespace
}  // namespace cudal1
