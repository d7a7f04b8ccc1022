#include "bench/device_memory.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "base/random.hpp"
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

TEST(DeviceMemory, APartLeavesTheRestToOthers) {
  DeviceMemory whole(100);
  DeviceMemory part(30, &whole);
  std::vector<DeviceMemory::Share> shares;
  while (auto share = part.try_take(10)) shares.push_back(std::move(*share));
  EXPECT_EQ(shares.size(), 3u);
  EXPECT_FALSE(whole.try_take(71));
  auto rest = whole.try_take(70);
  ASSERT_TRUE(rest);
  shares.clear();
  EXPECT_TRUE(part.try_take(30)) << "what went back can be taken again";
}

TEST(DeviceMemory, APartHasNoMoreThanTheWholeHasLeft) {
  DeviceMemory whole(100);
  DeviceMemory part(30, &whole);
  const auto large = whole.try_take(90);
  EXPECT_FALSE(part.try_take(20));
  const auto small = part.try_take(10);
  ASSERT_TRUE(small);
  EXPECT_FALSE(whole.try_take(1)) << "it is the whole's as well";
}

TEST(DeviceMemory, WhoHasEverythingIsAloneThoughOthersNeedNothing) {
  DeviceMemory memory;
  auto nothing = memory.try_take(0);
  EXPECT_FALSE(memory.try_take(DeviceMemory::unlimited));
  nothing.reset();
  const auto all = memory.try_take(DeviceMemory::unlimited);
  EXPECT_TRUE(all);
  EXPECT_FALSE(memory.try_take(0));
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
  std::uint64_t bytes = 0;
  DeviceMemory::Share taken;
};

//! As a bench does it: small ones and large ones, each in their own order, at the same time.
class FakeBench {
 public:
  FakeBench(std::uint64_t total, std::vector<FakeTask> tasks)
      : all_(total), small_(total / 3, &all_), device_(static_cast<std::int64_t>(total)), tasks_(std::move(tasks)) {}

  void run() {
    std::vector<std::size_t> small, large;
    for (std::size_t i = 0; i < tasks_.size(); ++i) (is_small(i) ? small : large).push_back(i);
    const std::jthread beside([&] { run_some(large, 3); });
    run_some(small, 5);
  }
  std::size_t overfull() const { return overfull_; }
  std::size_t done() const { return done_; }

 private:
  bool is_small(std::size_t i) const { return tasks_[i].bytes <= all_.total_bytes() / 8; }

  void run_some(const std::vector<std::size_t>& numbers, int jobs) {
    PoolLimits limits{.jobs = jobs};
    limits.may_begin = [&](std::size_t i) {
      FakeTask& task = tasks_[numbers[i]];
      auto share = (is_small(numbers[i]) ? small_ : all_).try_take(task.bytes);
      if (share) task.taken = std::move(*share);
      return share.has_value();
    };
    run_jobs(numbers.size(), limits, [&](std::size_t i) {
      use_for_a_while(tasks_[numbers[i]].taken.bytes());
      tasks_[numbers[i]].taken.give_back();
      ++done_;
      return JobEnd::done;
    });
  }

  void use_for_a_while(std::uint64_t bytes) {
    if (!device_.use(static_cast<std::int64_t>(bytes))) {
      ++overfull_;
      return;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(300));
    device_.free(static_cast<std::int64_t>(bytes));
  }

  DeviceMemory all_, small_;
  FakeDevice device_;
  std::vector<FakeTask> tasks_;
  std::atomic<std::size_t> done_ = 0, overfull_ = 0;
};

// With a limit of its own, in CTest: a circle of those who wait for one another would last for ever.
TEST(DeviceMemory, NeitherSmallNorLargeOnesWaitForEver) {
  constexpr std::uint64_t total = 139;
  Random random(7);
  for (int round = 0; round < 20; ++round) {
    std::vector<FakeTask> tasks(40);
    for (FakeTask& task : tasks) task.bytes = 1 + random.below(random.below(4) == 0 ? 2 * total : 30);
    FakeBench bench(total, std::move(tasks));
    bench.run();
    EXPECT_EQ(bench.done(), 40u);
    EXPECT_EQ(bench.overfull(), 0u);
  }
}

}  // namespace
}  // namespace cudal1
