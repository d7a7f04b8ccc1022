// One line says how a run fares, on a terminal and in a log.
#include "train/run/progress_line.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <memory>

#include "base/files.hpp"

namespace cudal1 {
namespace {

const StepReport full{.stage = "contrastive",
                      .step = 12,
                      .steps = 70,
                      .loss = {},
                      .reward = 0.2134,
                      .success_rate = 0.914,
                      .best = 3.416,
                      .distinct_plans = 6.1,
                      .entropy = 0.4123,
                      .kl = 0.01234,
                      .tie_share = 0.12,
                      .copy_share = 0.05,
                      .cache_hit_share = 0.634,
                      .gpu_idle_share = 0.087,
                      .tokens_per_s = 8213.0,
                      .evaluations_per_s = 6.63,
                      .seconds_left = 840.0};

TEST(StepReport, SaysEverythingThatIsKnown) {
  EXPECT_EQ(text_of(full),
            "contrastive 12/70: reward 0.213, 91% right, best 3.42x, 6.1 plans, entropy 0.412, KL 0.0123, 12% ties, "
            "5% copies, 63% cached, GPU idle 9%, 8213 tokens/s, 6.6 evaluations/s, 14 min left");
  EXPECT_EQ(text_of({.stage = "supervised", .step = 3, .steps = 600, .loss = 1.25, .tokens_per_s = 123456.0}),
            "supervised 3/600: loss 1.2500, 123k tokens/s");
  EXPECT_EQ(text_of({.stage = "supervised", .step = 0, .steps = 600}), "supervised 0/600");
}

TEST(StepReport, InANarrowTerminalTheLastPartsMakeWayButNotTheTimeLeft) {
  EXPECT_EQ(text_of(full, 60), "contrastive 12/70: reward 0.213, 91% right, 14 min left");
  for (std::size_t columns = 0; columns < 200; ++columns) EXPECT_LE(text_of(full, columns).size(), columns);
}

TEST(StepReport, TimeLeftIsInUnitsThatAPersonReads) {
  const auto left = [](double seconds) {
    return text_of({.stage = "s", .step = 1, .steps = 2, .seconds_left = seconds}).substr(7);
  };
  EXPECT_EQ(left(0.2), "1 s left");
  EXPECT_EQ(left(99.0), "99 s left");
  EXPECT_EQ(left(100.0), "2 min left");
  EXPECT_EQ(left(7500.0), "2:05 h left");
  EXPECT_EQ(left(-3.0), "0 s left");
}

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

TEST(ProgressLine, InALogLinesAreSomeTimeApartWithTheFirstAndTheLastStepOfAStage) {
  const TemporaryFolder folder;
  const File file(std::fopen((folder.path() / "log").c_str(), "w"), &std::fclose);
  {
    ProgressLine line(file.get(), 10.0);
    for (int step = 1; step <= 5; ++step) line.show({.stage = "one", .step = step, .steps = 5}, 4.0 * step);
    line.show({.stage = "two", .step = 1, .steps = 5}, 21.0);
  }
  EXPECT_EQ(read_file(folder.path() / "log"), "one 1/5\none 4/5\none 5/5\ntwo 1/5\n");
}

TEST(ProgressLine, OnATerminalOneLineChangesAndStaysInItsWidth) {
  const int master = ::posix_openpt(O_RDWR | O_NOCTTY);
  if (master < 0 || ::grantpt(master) != 0 || ::unlockpt(master) != 0) GTEST_SKIP() << "there is no pseudo-terminal";
  const File terminal(std::fopen(::ptsname(master), "w"), &std::fclose);
  const winsize size{.ws_row = 24, .ws_col = 61, .ws_xpixel = 0, .ws_ypixel = 0};
  ASSERT_EQ(::ioctl(master, TIOCSWINSZ, &size), 0);
  {
    ProgressLine line(terminal.get());
    line.show(full, 0.0);
  }
  char shown[512] = {};
  ASSERT_GT(::read(master, shown, sizeof shown - 1), 0);
  EXPECT_EQ(std::string(shown), "\r\033[Kcontrastive 12/70: reward 0.213, 91% right, 14 min left\r\033[K");
  ::close(master);
}

}  // namespace
}  // namespace cudal1
