#include "bench/device_memory.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

#include "base/random.hpp"
#include "suite/passing_queue.hpp"
#include "suite/task_pool.hpp"

namespace cudal1 {
namespace {

TEST(DeviceMemory, HandsOutNoMoreThanThereIsAndTakesItBack) {
  DeviceMemory memory(100);
  auto first = memory.try_take(60);
  ASSERT_TRUE(first);
  EXPECT_FALSE(memory.try_take(41));
  const auto second = memory.try_take(40);
  EXPECT_TRUE(second);
  first->give_back();
  EXPECT_TRUE(memory.try_take(60));
}

TEST(DeviceMemory, MoreThanEverythingIsEverythingOnceNobodyHasAny) {
  DeviceMemory memory(100);
  auto small = memory.try_take(1);
  EXPECT_FALSE(memory.try_take(1000));
  small.reset();
  const auto all = memory.try_take(1000);
  ASSERT_TRUE(all);
  EXPECT_EQ(all->bytes(), 100u);
  EXPECT_FALSE(memory.try_take(1));
}

TEST(DeviceMemory, WhatIsKeptLeavesThreeQuartersToThoseWhoAreToCome) {
  DeviceMemory memory(160);
  auto judge = memory.announce(10);
  std::vector<DeviceMemory::Share> workers;
  while (auto worker = memory.try_keep(10)) workers.push_back(std::move(*worker));
  EXPECT_EQ(workers.size(), 4u);
  EXPECT_TRUE(memory.try_take(120)) << "that part is free for others";
  judge.withdraw();
  EXPECT_TRUE(memory.try_keep(80)) << "nobody is to come";
}

TEST(DeviceMemory, WhatIsKeptWhileOthersAreToComeIsKeptByMany) {
  DeviceMemory memory(160);
  auto judge = memory.announce(10);
  EXPECT_FALSE(memory.try_keep(11));
  judge.withdraw();
  EXPECT_TRUE(memory.try_keep(11));
}

TEST(DeviceMemory, WhatIsKeptLeavesRoomForTheLargestThatIsToCome) {
  DeviceMemory memory(160);
  auto large = memory.announce(145), small = memory.announce(20);
  const auto worker = memory.try_keep(10);
  EXPECT_TRUE(worker);
  EXPECT_FALSE(memory.try_keep(10));
  EXPECT_TRUE(memory.try_take(145));
  large.withdraw();
  EXPECT_TRUE(memory.try_keep(10));
}

TEST(DeviceMemory, WhoHasEverythingIsAloneThoughOthersNeedNothing) {
  DeviceMemory memory;
  auto nothing = memory.try_take(0);
  EXPECT_FALSE(memory.try_take(DeviceMemory::unlimited));
  nothing.reset();
  const auto all = memory.try_take(DeviceMemory::unlimited);
  EXPECT_TRUE(all);
  EXPECT_FALSE(memory.try_keep(0));
}

TEST(DeviceMemory, GrowsSharesUpToEverything) {
  const DeviceMemory memory(100);
  EXPECT_EQ(memory.more_than(30), 60u);
  EXPECT_EQ(memory.more_than(60), 100u);
  EXPECT_FALSE(memory.is_everything(99));
  EXPECT_TRUE(memory.is_everything(memory.more_than(60)));
  EXPECT_EQ(memory.more_than(1), 25u) << "few tries lead to everything";
  EXPECT_EQ(DeviceMemory().more_than(30), DeviceMemory::unlimited) << "there is no telling how much is missing";
}

//! A device that notes how full it is, and on which more memory than it has cannot be used.
class FakeDevice {
 public:
  explicit FakeDevice(std::int64_t total) : total_(total) {}
  bool use(std::int64_t bytes) {
    if (used_.fetch_add(bytes) + bytes <= total_) return true;
    used_ -= bytes;
    return false;
  }
  void free(std::int64_t bytes) { used_ -= bytes; }

 private:
  const std::int64_t total_;
  std::atomic<std::int64_t> used_ = 0;
};

struct FakeTask {
  std::uint64_t judge_bytes = 0, worker_bytes = 0;
  DeviceMemory::Announcement to_come;
  DeviceMemory::Share taken;
};

//! As a bench does it: judges from several threads; what is judged goes to workers, which keep their memory until they
//! are measured; none is measured before all are judged.
class FakeBench {
 public:
  FakeBench(std::uint64_t total, std::vector<FakeTask> tasks)
      : memory_(total), device_(static_cast<std::int64_t>(total)), tasks_(std::move(tasks)) {}

  void run() {
    for (FakeTask& task : tasks_) task.to_come = memory_.announce(task.judge_bytes);
    std::vector<std::jthread> makers;
    for (int i = 0; i < 4; ++i) makers.emplace_back([this] { make_some(); });
    PoolLimits limits{.jobs = 5};
    limits.may_begin = [&](std::size_t i) {
      auto share = memory_.try_take(tasks_[i].judge_bytes);
      if (share) tasks_[i].taken = std::move(*share);
      return share.has_value();
    };
    run_jobs(tasks_.size(), limits, [&](std::size_t i) { return judge(i); });
    while (measured_ < tasks_.size()) measure_some();
  }
  std::size_t overfull() const { return overfull_; }
  std::size_t measured() const { return measured_; }

 private:
  void use_for_a_while(std::uint64_t bytes) {
    if (!device_.use(static_cast<std::int64_t>(bytes))) {
      ++overfull_;
      return;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(300));
    device_.free(static_cast<std::int64_t>(bytes));
  }

  JobEnd judge(std::size_t i) {
    use_for_a_while(tasks_[i].taken.bytes());
    tasks_[i].taken.give_back();
    tasks_[i].to_come.withdraw();
    const std::lock_guard lock(mutex_);
    waiting_.add(i);
    return JobEnd::done;
  }

  void make_some() {
    while (measured_ < tasks_.size()) {
      make_one();
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }

  void make_one() {
    std::optional<DeviceMemory::Share> share;
    const std::lock_guard lock(mutex_);
    const auto job = waiting_.take([&](std::size_t i) {
      share = memory_.try_keep(tasks_[i].worker_bytes);
      return share.has_value();
    });
    if (!job) return;
    if (!device_.use(static_cast<std::int64_t>(share->bytes()))) ++overfull_;
    ready_.push_back(std::move(*share));
  }

  void measure_some() {
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    const std::lock_guard lock(mutex_);
    for (const DeviceMemory::Share& share : ready_) device_.free(static_cast<std::int64_t>(share.bytes()));
    measured_ += ready_.size();
    ready_.clear();
  }

  DeviceMemory memory_;
  FakeDevice device_;
  std::vector<FakeTask> tasks_;
  std::mutex mutex_;
  PassingQueue<std::size_t> waiting_;
  std::vector<DeviceMemory::Share> ready_;
  std::atomic<std::size_t> measured_ = 0, overfull_ = 0;
};

// With a limit of its own, in CTest: a circle of those who wait for one another would last for ever.
TEST(DeviceMemory, JudgesAndWorkersNeverWaitForOneAnotherInACircle) {
  constexpr std::uint64_t total = 139;
  Random random(7);
  for (int round = 0; round < 20; ++round) {
    std::vector<FakeTask> tasks(40);
    for (FakeTask& task : tasks) {
      task.judge_bytes = 1 + random.below(random.below(4) == 0 ? 2 * total : 30);
      task.worker_bytes = 1 + random.below(random.below(4) == 0 ? 2 * total : 30);
    }
    FakeBench bench(total, std::move(tasks));
    bench.run();
    EXPECT_EQ(bench.measured(), 40u);
    EXPECT_EQ(bench.overfull(), 0u);
  }
}

}  // namespace
}  // namespace cudal1
