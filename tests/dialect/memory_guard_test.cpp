// What processes take of the host's memory, seen from outside, and when it is too much.
#include "dialect/memory_guard.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <thread>

#include "base/child_process.hpp"
#include "base/host_memory.hpp"

namespace cudal1 {
namespace {

using std::chrono::milliseconds;

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;

//! `tail` keeps a line until it ends, and this one is of 200 MB.
ChildProcess start_hoarder() {
  ChildOptions options;
  options.arguments = {"/bin/sh", "-c", "{ head -c 200000000 /dev/zero; sleep 60; } | tail -n 1 & wait"};
  options.environment = minimal_environment();
  return ChildProcess::start(options);
}

std::optional<MemoryGuard::Verdict> verdict_in_a_while(MemoryGuard& guard, const ProcessWatch& family) {
  std::optional<MemoryGuard::Verdict> verdict;
  for (int i = 0; i < 300 && !(verdict = guard.look(family)); ++i) std::this_thread::sleep_for(milliseconds(10));
  return verdict;
}

TEST(MemoryGuard, CountsWhatAProcessSharesInMemoryToo) {
  const std::uint64_t before = memory_of_process(::getpid());
  void* shared = ::mmap(nullptr, 64 * mebibyte, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  EXPECT_LT(memory_of_process(::getpid()), before + 32 * mebibyte);  // nothing of it is taken yet
  std::memset(shared, 1, 64 * mebibyte);
  EXPECT_GE(memory_of_process(::getpid()), before + 60 * mebibyte);
  ::munmap(shared, 64 * mebibyte);
}

TEST(MemoryGuard, FindsWhatChildrenTake) {
  ChildProcess child = start_hoarder();
  MemoryGuard guard(child.pid(), 100 * mebibyte);
  const auto verdict = verdict_in_a_while(guard, ProcessWatch(child.pid()));
  ASSERT_TRUE(verdict);
  EXPECT_EQ(*verdict, MemoryGuard::Verdict::solution_took_too_much);
}

TEST(MemoryGuard, SaysNothingBelowTheLimit) {
  if (free_memory_bytes() < least_free_memory_bytes() + 1000 * mebibyte) GTEST_SKIP() << "this machine is nearly full";
  ChildProcess child = start_hoarder();
  MemoryGuard guard(child.pid(), 800 * mebibyte);
  EXPECT_FALSE(verdict_in_a_while(guard, ProcessWatch(child.pid())));
}

TEST(HostMemory, AShareLeavesSomethingForOthers) {
  EXPECT_GT(share_of_free_memory_bytes(), 0u);
  EXPECT_LT(share_of_free_memory_bytes(), free_memory_bytes());
  EXPECT_LT(least_free_memory_bytes(), UINT64_MAX / 2);
}

}  // namespace
}  // namespace cudal1
