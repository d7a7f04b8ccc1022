#include "judge/gpu_ledger.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "base/files.hpp"
#include "judge/gpu_idle.hpp"
#include "judge/gpu_lock.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;

TEST(BusySeconds, TurnsThatOverlapCountOnce) {
  const std::vector<GpuTurnTaken> turns = {{12.0, 14.0}, {11.0, 13.0}, {12.5, 12.75}, {16.0, 17.0}, {14.0, 14.5}};
  EXPECT_DOUBLE_EQ(busy_seconds(turns, 10.0, 20.0), 4.5);  // 11 to 14.5 and 16 to 17
}

TEST(BusySeconds, OnlyWhatLiesWithinCounts) {
  const std::vector<GpuTurnTaken> turns = {{1.0, 2.0}, {9.0, 11.0}, {19.5, 40.0}, {50.0, 60.0}};
  EXPECT_DOUBLE_EQ(busy_seconds(turns, 10.0, 20.0), 1.5);
  EXPECT_DOUBLE_EQ(busy_seconds({}, 10.0, 20.0), 0.0);
  EXPECT_DOUBLE_EQ(busy_seconds({{0.0, 100.0}}, 10.0, 20.0), 10.0);
}

class GpuLedgerTest : public ::testing::Test {
 protected:
  GpuLedgerTest() { ::setenv(GpuLedger::variable, file_.c_str(), 1); }
  ~GpuLedgerTest() override { ::unsetenv(GpuLedger::variable); }

  GpuLock lock() const { return GpuLock("gpu", folder_.path()); }
  void write(const std::string& text) const { std::ofstream(file_, std::ios::app) << text; }

  TemporaryFolder folder_;
  fs::path file_ = folder_.path() / "ledger";
};

int status_of(const std::function<void()>& action) {
  const pid_t child = ::fork();
  if (child == 0) {
    action();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

TEST_F(GpuLedgerTest, TurnsOfAllProcessesAreWrittenDownWithTheirUse) {
  const double before = GpuLedger::now_s();
  { const auto guard = lock().share(GpuUse::model); }
  EXPECT_EQ(status_of([&] { const auto guard = lock().alone(); }), 0);
  { const auto guard = lock().share(); }
  const std::vector<GpuTurnTaken> turns = GpuLedgerReader(file_).read();
  ASSERT_EQ(turns.size(), 3U);
  EXPECT_EQ(turns[0].use, GpuUse::model);
  EXPECT_EQ(turns[1].use, GpuUse::measurement);
  EXPECT_EQ(turns[2].use, GpuUse::check);
  double last = before - 1e-5;  // the file has microseconds
  for (const GpuTurnTaken& turn : turns) {
    EXPECT_GE(turn.begin_s, last);
    EXPECT_GE(turn.end_s, turn.begin_s);
    last = turn.end_s - 1e-5;
  }
}

TEST_F(GpuLedgerTest, AGuardThatIsMovedIsOneTurn) {
  {
    GpuLock::Guard first = lock().share();
    const GpuLock::Guard second = std::move(first);
    EXPECT_TRUE(GpuLedgerReader(file_).read().empty()) << "it is not over";
  }
  EXPECT_EQ(GpuLedgerReader(file_).read().size(), 1U);
}

TEST_F(GpuLedgerTest, AProcessThatDiesLeavesTheLedgerReadable) {
  const int status = status_of([&] {
    const auto guard = lock().alone();
    ::abort();
  });
  EXPECT_TRUE(WIFSIGNALED(status));
  { const auto guard = lock().alone(); }
  EXPECT_EQ(GpuLedgerReader(file_).read().size(), 1U);
}

TEST_F(GpuLedgerTest, NobodysWorkFailsForWantOfALedger) {
  ::setenv(GpuLedger::variable, (folder_.path() / "nowhere" / "ledger").c_str(), 1);
  EXPECT_NO_THROW({ const auto guard = lock().alone(); });
  ::unsetenv(GpuLedger::variable);
  { const auto guard = lock().alone(); }
  EXPECT_FALSE(fs::exists(file_));
}

TEST_F(GpuLedgerTest, ALineIsReadOnceAndOnlyWhenItIsWhole) {
  GpuLedgerReader reader(file_);
  EXPECT_TRUE(reader.read().empty()) << "there is no file yet";
  write("1.0 2.0 model\nnonsense\n3.0 2.0 model\n4.0 5.0 chec");
  EXPECT_EQ(reader.read().size(), 1U);
  write("k\n");
  const std::vector<GpuTurnTaken> turns = reader.read();
  ASSERT_EQ(turns.size(), 1U);
  EXPECT_EQ(turns.front().use, GpuUse::check);
  EXPECT_TRUE(reader.read().empty());
}

TEST_F(GpuLedgerTest, CheckingProgramsIsNeitherIdleNorWhatTheGpuIsFor) {
  double now = 100.0;
  GpuIdleMeter meter(file_, [&] { return now; });
  write("90 101 model\n102 103 check\n102.5 104 measurement\n");
  now = 110.0;
  const GpuIdle first = meter.next();
  EXPECT_DOUBLE_EQ(first.seconds, 10.0);
  EXPECT_DOUBLE_EQ(first.share, 0.75);           // 100 to 101 and 102.5 to 104
  EXPECT_DOUBLE_EQ(first.unlocked_share, 0.70);  // 102 to 102.5 as well
  write("110 115 model\n");
  now = 120.0;
  EXPECT_DOUBLE_EQ(meter.next().share, 0.5);
  EXPECT_DOUBLE_EQ(meter.over_all().share, 0.625);
  write("120 121 model\n");
  now = 121.0;
  meter.restart();
  EXPECT_DOUBLE_EQ(meter.over_all().seconds, 0.0);
  now = 123.0;
  EXPECT_DOUBLE_EQ(meter.next().share, 1.0) << "what was before the restart does not count";
}

}  // namespace
}  // namespace cudal1
