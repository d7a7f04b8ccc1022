#include "judge/gpu_lock.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <optional>

#include "base/files.hpp"
#include "base/result.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;

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
  bool free_for_another(bool alone) const {
    return in_another_process([&] {
      const UniqueFd file(::open(path().c_str(), O_RDONLY));
      return ::flock(file.get(), (alone ? LOCK_EX : LOCK_SH) | LOCK_NB) == 0;
    });
  }

  GpuLock lock() const { return GpuLock("gpu", folder_.path()); }
  fs::path path() const { return folder_.path() / "cudal1-gpu-gpu.lock"; }
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

TEST_F(GpuLockTest, IsForEverybodyWhateverTheUmaskAndLeavesNothingElseBehind) {
  const mode_t before = ::umask(0077);
  lock();
  ::umask(before);
  EXPECT_EQ(fs::status(path()).permissions(), fs::perms(0666));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), {}), 1);
}

TEST_F(GpuLockTest, TakesAFileOfAnotherUserInASharedFolder) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be two users";
  constexpr uid_t somebody = 12345, somebody_else = 54321;
  for (const uid_t user : {somebody, somebody_else})
    EXPECT_TRUE(in_another_process([&] {
      if (::setuid(user) != 0) return false;
      const auto guard = lock().alone();
      return true;
    }));
  struct stat info {};
  ASSERT_EQ(::stat(path().c_str(), &info), 0);
  EXPECT_EQ(info.st_uid, somebody);
}

TEST_F(GpuLockTest, DoesNotFollowALinkOrTakeSomethingElseForAFile) {
  fs::create_symlink(folder_.path() / "elsewhere", path());
  EXPECT_THROW(lock(), Error);
  EXPECT_FALSE(fs::exists(folder_.path() / "elsewhere"));
  fs::remove(path());
  ASSERT_EQ(::mkfifo(path().c_str(), 0666), 0);
  EXPECT_THROW(lock(), Error);
}

TEST_F(GpuLockTest, HoldsAlsoWhenItsFileWasRemovedInTheMeantime) {
  GpuLock ours = lock();
  fs::remove(path());
  const auto guard = ours.alone();
  EXPECT_FALSE(free_for_another(false));
}

TEST_F(GpuLockTest, IsNotHandedToChildProcesses) {
  const auto guard = lock().alone();
  for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
    std::error_code ignored;
    if (fs::read_symlink(entry.path(), ignored) != path()) continue;
    EXPECT_NE(::fcntl(std::stoi(entry.path().filename()), F_GETFD) & FD_CLOEXEC, 0);
  }
}

}  // namespace
}  // namespace cudal1
