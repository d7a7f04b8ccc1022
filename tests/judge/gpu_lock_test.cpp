#include "judge/gpu_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <optional>

namespace cudal1 {
namespace {

class GpuLockTest : public ::testing::Test {
 protected:
  ~GpuLockTest() override { std::filesystem::remove(lock_.path()); }
  GpuLock lock_{fmt::format("test-{}", ::getpid())};

  //! Could another process take it now?
  bool free_for_another(bool alone) const {
    const pid_t child = ::fork();
    if (child == 0) {
      const UniqueFd file(::open(lock_.path().c_str(), O_RDONLY));
      ::_exit(::flock(file.get(), (alone ? LOCK_EX : LOCK_SH) | LOCK_NB) == 0 ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
};

TEST_F(GpuLockTest, MeasuringExcludesEverybody) {
  const auto guard = lock_.alone();
  EXPECT_FALSE(free_for_another(false));
  EXPECT_FALSE(free_for_another(true));
}

TEST_F(GpuLockTest, OtherWorkSharesButKeepsMeasuringOut) {
  const auto guard = lock_.share();
  EXPECT_TRUE(free_for_another(false));
  EXPECT_FALSE(free_for_another(true));
}

TEST_F(GpuLockTest, IsFreeWhenTheGuardIsGone) {
  { const auto guard = lock_.alone(); }
  EXPECT_TRUE(free_for_another(true));
}

}  // namespace
}  // namespace cudal1
