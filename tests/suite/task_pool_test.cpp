#include "suite/task_pool.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

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

TEST(TaskPool, KnowsTheMessagesOfThoseWhoRanOut) {
  EXPECT_TRUE(says_short_of_memory("module.py: Python was ended by signal 9"));
  EXPECT_TRUE(says_short_of_memory("DefaultCPUAllocator: not enough memory: you tried to allocate 1 bytes"));
  EXPECT_TRUE(says_short_of_memory("CUDA out of memory. Tried to allocate 2.00 GiB"));
  EXPECT_FALSE(says_short_of_memory("Python was ended by signal 11"));
  EXPECT_FALSE(says_short_of_memory(""));
}

}  // namespace
}  // namespace cudal1
