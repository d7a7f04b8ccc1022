#include "judge/gpu_lock.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <thread>

#include "base/files.hpp"
#include "base/result.hpp"
#include "judge/shared_turn.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

//! In a process of its own; true when `action` says so and throws nothing.
bool in_another_process(const std::function<bool()>& action) {
  const pid_t child = ::fork();
  if (child == 0) {
    bool good = false;
    try {
      good = action();
    } catch (...) {
    }
    ::_exit(good ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

class GpuLockTest : public ::testing::Test {
 protected:
  GpuLockTest() { fs::permissions(folder_.path(), fs::perms::all | fs::perms::sticky_bit); }  // as /tmp

  //! Could another process take it now?
  bool free_for_another(bool alone) const { return free_for_another(alone, path()); }
  static bool free_for_another(bool alone, const fs::path& path) {
    return in_another_process([&] {
      const UniqueFd file(::open(path.c_str(), O_RDONLY));
      return ::flock(file.get(), (alone ? LOCK_EX : LOCK_SH) | LOCK_NB) == 0;
    });
  }

  GpuLock lock() const { return GpuLock("gpu", folder_.path()); }
  fs::path path() const { return folder_.path() / "cudal1-gpu-gpu.lock"; }
  fs::path turnstile() const { return folder_.path() / "cudal1-gpu-gpu.turnstile"; }
  TemporaryFolder folder_;
};

TEST_F(GpuLockTest, MeasuringExcludesEverybody) {
  const auto guard = lock().alone();
  EXPECT_FALSE(free_for_another(false));
  EXPECT_FALSE(free_for_another(true));
}

TEST_F(GpuLockTest, OtherWorkSharesButKeepsMeasuringOut) {
  const auto guard = lock().share();
  EXPECT_TRUE(free_for_another(false));
  EXPECT_FALSE(free_for_another(true));
}

TEST_F(GpuLockTest, IsFreeWhenTheGuardIsGone) {
  { const auto guard = lock().alone(); }
  EXPECT_TRUE(free_for_another(true));
}

TEST_F(GpuLockTest, SharersDoNotWaitForEachOther) {
  const auto guard = lock().share();
  EXPECT_TRUE(in_another_process([&] {
    ::alarm(60);  // ends a process that waits
    const auto other = lock().share();
    return true;
  }));
}

//! Two threads that share in turns, each letting go only when the other shares too: somebody always does. One that
//! waits for the other in vain lets go after a moment.
class OverlappingSharers {
 public:
  explicit OverlappingSharers(const GpuLock& lock) : lock_(lock) {
    for (int own = 0; own < 2; ++own) threads_[own] = std::jthread([this, own] { take_turns(own); });
    while (turns_ < 4) std::this_thread::sleep_for(1ms);
  }
  ~OverlappingSharers() { stop_ = true; }

 private:
  static constexpr auto patience = 200ms;

  void take_turns(int own) {
    while (!stop_) {
      if (turns_ % 2 != own) {
        std::this_thread::sleep_for(1ms);
        continue;
      }
      const auto guard = lock_.share();
      const int mine = ++turns_;
      const auto deadline = std::chrono::steady_clock::now() + patience;
      while (!stop_ && turns_ == mine && std::chrono::steady_clock::now() < deadline) std::this_thread::sleep_for(1ms);
    }
  }

  const GpuLock& lock_;
  std::atomic<bool> stop_ = false;
  std::atomic<int> turns_ = 0;
  std::jthread threads_[2];  // last: they end before what they use
};

TEST_F(GpuLockTest, MeasuringIsNotKeptOutBySharersThatTakeTurns) {
  const GpuLock ours = lock();
  std::future<void> measured;  // ends after the sharers, who may be what it waits for
  const OverlappingSharers sharers(ours);
  measured = std::async(std::launch::async, [&] { const auto guard = ours.alone(); });
  // It takes as long as the patience of the sharers; the limit is for busy machines.
  EXPECT_EQ(measured.wait_for(10s), std::future_status::ready);
}

TEST_F(GpuLockTest, WhoeverWantsToShareWaitsBehindMeasuringThatWaits) {
  const GpuLock ours = lock();
  std::future<void> measured, shared;
  std::atomic<bool> has_measured = false;
  {
    const auto guard = ours.share();
    measured = std::async(std::launch::async, [&] {
      const auto alone = ours.alone();
      has_measured = true;
    });
    while (free_for_another(true, turnstile())) std::this_thread::sleep_for(1ms);  // until it waits
    shared = std::async(std::launch::async, [&] {
      const auto other = ours.share();
      EXPECT_TRUE(has_measured);
    });
    EXPECT_EQ(shared.wait_for(100ms), std::future_status::timeout);
  }
  measured.get();
  shared.get();
}

TEST_F(GpuLockTest, MeasurementsFollowEachOtherBeforeAnybodySharesAgain) {
  const GpuLock ours = lock();
  std::future<void> measured, shared;
  std::atomic<bool> has_measured = false;
  {
    const auto guard = ours.alone();
    shared = std::async(std::launch::async, [&] {
      const auto other = ours.share();
      EXPECT_TRUE(has_measured) << "who came first waits for those who came to measure";
    });
    EXPECT_EQ(shared.wait_for(50ms), std::future_status::timeout);
    measured = std::async(std::launch::async, [&] {
      const auto alone = lock().alone();
      has_measured = true;
    });
    EXPECT_EQ(measured.wait_for(100ms), std::future_status::timeout);
  }
  measured.get();
  shared.get();
}

TEST_F(GpuLockTest, WhoSharesLeavesTheTurnstile) {
  const auto guard = lock().share();
  EXPECT_TRUE(free_for_another(true, turnstile()));
}

TEST_F(GpuLockTest, IsForEverybodyWhateverTheUmaskAndLeavesNothingElseBehind) {
  const mode_t before = ::umask(0077);
  lock();
  ::umask(before);
  for (const fs::path& file : {path(), turnstile()}) EXPECT_EQ(fs::status(file).permissions(), fs::perms(0666));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), {}), 2);
}

TEST_F(GpuLockTest, TakesFilesOfAnotherUserInASharedFolder) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be two users";
  constexpr uid_t somebody = 12345, somebody_else = 54321;
  for (const uid_t user : {somebody, somebody_else})
    EXPECT_TRUE(in_another_process([&] {
      if (::setuid(user) != 0) return false;
      const auto guard = lock().alone();
      return true;
    }));
  for (const fs::path& file : {path(), turnstile()}) {
    struct stat info {};
    ASSERT_EQ(::stat(file.c_str(), &info), 0);
    EXPECT_EQ(info.st_uid, somebody);
  }
}

TEST_F(GpuLockTest, DoesNotFollowALinkOrTakeSomethingElseForAFile) {
  for (const fs::path& file : {path(), turnstile()}) {
    fs::create_symlink(folder_.path() / "elsewhere", file);
    EXPECT_THROW(lock(), Error);
    EXPECT_FALSE(fs::exists(folder_.path() / "elsewhere"));
    fs::remove(file);
    ASSERT_EQ(::mkfifo(file.c_str(), 0666), 0);
    EXPECT_THROW(lock(), Error);
    fs::remove(file);
  }
}

TEST_F(GpuLockTest, HoldsAlsoWhenItsFilesWereRemovedInTheMeantime) {
  const GpuLock ours = lock();
  for (const fs::path& file : {path(), turnstile()}) fs::remove(file);
  const auto guard = ours.alone();
  EXPECT_FALSE(free_for_another(false));
  EXPECT_TRUE(fs::exists(turnstile()));
}

TEST_F(GpuLockTest, IsNotHandedToChildProcesses) {
  const auto guard = lock().alone();
  for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
    std::error_code ignored;
    if (fs::read_symlink(entry.path(), ignored) != path()) continue;
    EXPECT_NE(::fcntl(std::stoi(entry.path().filename()), F_GETFD) & FD_CLOEXEC, 0);
  }
}

TEST_F(GpuLockTest, SaysWhetherSomebodyWaitsToMeasure) {
  const GpuLock gpu = lock();
  EXPECT_FALSE(gpu.is_awaited());
  std::optional<GpuLock::Guard> sharing = gpu.share();
  EXPECT_FALSE(gpu.is_awaited()) << "nobody waits for those who share";
  auto measuring = std::async(std::launch::async, [&] { return lock().alone(); });
  while (!gpu.is_awaited()) std::this_thread::sleep_for(1ms);
  sharing.reset();
  { const GpuLock::Guard alone = measuring.get(); }
  EXPECT_FALSE(gpu.is_awaited()) << "who has measured waits no more";
}

TEST_F(GpuLockTest, ASharedTurnLetsMeasurersPassAndGoesOn) {
  const GpuLock gpu = lock();
  SharedTurn turn(gpu, 0ms);
  EXPECT_FALSE(turn.is_due()) << "there is no share yet";
  std::shared_ptr<void> held = turn.hold();
  auto measuring = std::async(std::launch::async, [&] {
    const GpuLock::Guard alone = lock().alone();
    return !free_for_another(false);
  });
  while (!turn.is_due()) std::this_thread::sleep_for(1ms);
  EXPECT_NE(measuring.wait_for(20ms), std::future_status::ready) << "not before it is let pass";
  turn.let_pass();
  EXPECT_TRUE(measuring.get()) << "it was alone";
  EXPECT_FALSE(free_for_another(true)) << "the share is back";
  held.reset();
  EXPECT_TRUE(free_for_another(true));
}

TEST_F(GpuLockTest, ASharedTurnIsDueOnceSomebodyHasWaitedForAWhile) {
  const GpuLock gpu = lock();
  SharedTurn turn(gpu, 500ms);
  const std::shared_ptr<void> held = turn.hold();
  for (int measurement = 0; measurement < 2; ++measurement) {
    const auto begin = std::chrono::steady_clock::now();
    auto measuring = std::async(std::launch::async, [&] { const GpuLock::Guard alone = lock().alone(); });
    while (!gpu.is_awaited()) EXPECT_FALSE(turn.is_due());
    EXPECT_FALSE(turn.is_due()) << "others may come to measure meanwhile";
    while (!turn.is_due()) std::this_thread::sleep_for(1ms);
    EXPECT_GE(std::chrono::steady_clock::now() - begin, 500ms);
    turn.let_pass();
    measuring.get();
    EXPECT_FALSE(turn.is_due()) << "nobody waits any more";
  }
}

TEST_F(GpuLockTest, ASharedTurnThatAskedLongAgoIsDueAtOnce) {
  const GpuLock gpu = lock();
  SharedTurn turn(gpu, 100ms);
  const std::shared_ptr<void> held = turn.hold();
  auto measuring = std::async(std::launch::async, [&] { const GpuLock::Guard alone = lock().alone(); });
  while (!gpu.is_awaited()) std::this_thread::sleep_for(1ms);
  std::this_thread::sleep_for(100ms);  // a long run of the oracle
  EXPECT_TRUE(turn.is_due());
  turn.let_pass();
  measuring.get();
}

TEST_F(GpuLockTest, ASharedTurnForgetsWhoWaitedInTheOneBefore) {
  const GpuLock gpu = lock();
  SharedTurn turn(gpu, 300ms);
  const auto begins_to_wait = [&] {
    auto measuring = std::async(std::launch::async, [&] { const GpuLock::Guard alone = lock().alone(); });
    while (!gpu.is_awaited()) std::this_thread::sleep_for(1ms);
    return measuring;
  };
  std::shared_ptr<void> held = turn.hold();
  auto first = begins_to_wait();
  EXPECT_FALSE(turn.is_due());
  held.reset();
  first.get();
  std::this_thread::sleep_for(300ms);
  held = turn.hold();
  auto second = begins_to_wait();
  EXPECT_FALSE(turn.is_due()) << "this one has just come";
  held.reset();
  second.get();
}

}  // namespace
}  // namespace cudal1
