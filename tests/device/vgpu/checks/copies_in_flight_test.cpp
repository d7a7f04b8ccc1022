#include "checked_launch.hpp"

namespace cudal1::vgpu {
namespace {

std::uint64_t own_word(std::uint64_t lane) { return 4 * lane; }
std::uint64_t own_four_words(std::uint64_t lane) { return 16 * lane; }

class CopiesInFlightTest : public CheckedLaunchTest {
 protected:
  void SetUp() override {
    CheckedLaunchTest::SetUp();
    options_.uninitialised = options_.global_races = false;
  }
  void begin(std::uint32_t warp, Mask lanes, const Addresses& addresses, std::uint32_t bytes = 4) {
    block().copy_begins(access(write, warp, lanes, addresses, bytes));
  }
  void end(std::uint32_t warp, Mask lanes, const Addresses& addresses, std::uint32_t bytes = 4) {
    block().copy_ends(access(write, warp, lanes, addresses, bytes));
  }
  void on_shared(AccessKind kind, std::uint32_t warp, Mask lanes, std::uint64_t address, std::uint32_t bytes = 4) {
    block().shared(access_at(kind, warp, lanes, address, bytes));
  }
};

TEST_F(CopiesInFlightTest, AThreadThatReadsWhatItHasNotWaitedForIsNamed) {
  EXPECT_EQ(finding([&] {
              begin(1, full_mask, own_word);
              on_shared(read, 1, lane1, 4);
            }),
            FaultKind::shared_race);
  EXPECT_EQ(
      message_,
      "race in shared memory: kernel 'k' reads byte 4 of shared memory (byte 4 of 'tile', 8 bytes), which cp.async "
      "at line 1 still has to fill: thread (33, 0, 0) has not waited for it (line 2, block (0, 0, 0), thread (33, 0, "
      "0))");
}

TEST_F(CopiesInFlightTest, ABarrierIsNoWait) {
  EXPECT_EQ(finding([&] {
              begin(1, full_mask, own_word);
              barrier();
              on_shared(read, 0, lane0, 8, 2);
            }),
            FaultKind::shared_race);
  EXPECT_NE(message_.find("byte 8 of shared memory (byte 0 of 'rows', 1016 bytes), which cp.async at line 1"),
            std::string::npos)
      << message_;
}

TEST_F(CopiesInFlightTest, AWriteOrAnotherCopyMayBeOverwritten) {
  EXPECT_EQ(finding([&] {
              begin(0, full_mask, own_four_words, 16);
              on_shared(write, 0, lane0, 12);
            }),
            FaultKind::shared_race);
  EXPECT_EQ(finding([&] {
              begin(0, lane0, own_four_words, 16);
              begin(
                  0, lane0, [](std::uint64_t) { return 8; }, 8);
            }),
            FaultKind::shared_race);
}

TEST_F(CopiesInFlightTest, WhoHasWaitedReadsItsOwn) {
  EXPECT_EQ(finding([&] {
              begin(0, full_mask, own_four_words, 16);
              end(0, full_mask, own_four_words, 16);
              on_shared(read, 0, lane0, 0, 16);
              on_shared(read, 0, lane1, 16, 16);
            }),
            nothing);
}

TEST_F(CopiesInFlightTest, LanesWaitForThemselves) {
  EXPECT_EQ(finding([&] {
              begin(0, full_mask, own_word);
              end(0, lane0, own_word);
              on_shared(read, 0, lane0, 0);
              on_shared(read, 0, lane0, 4);
            }),
            FaultKind::shared_race);
  EXPECT_NE(message_.find("thread (1, 0, 0) has not waited"), std::string::npos) << message_;
}

TEST_F(CopiesInFlightTest, OthersReadBehindABarrierThatComesAfterTheWait) {
  EXPECT_EQ(finding([&] {
              begin(0, full_mask, own_word);
              barrier();
              end(0, full_mask, own_word);
              barrier();
              on_shared(read, 1, full_mask, 0);
            }),
            nothing);
}

TEST_F(CopiesInFlightTest, ABarrierBeforeTheWaitOrdersNothing) {
  EXPECT_EQ(finding([&] {
              begin(0, full_mask, own_word);
              barrier();
              end(0, full_mask, own_word);
              on_shared(read, 1, lane0, 0);
            }),
            FaultKind::shared_race);
  EXPECT_NE(message_.find("which thread (0, 0, 0) writes"), std::string::npos) << message_;
}

TEST_F(CopiesInFlightTest, OtherPlacesMayBeUsedMeanwhile) {
  EXPECT_EQ(finding([&] {
              begin(0, full_mask, own_word);
              on_shared(write, 1, lane0, 128);
              on_shared(read, 1, lane0, 128);
            }),
            nothing);
}

TEST_F(CopiesInFlightTest, CanBeTurnedOff) {
  options_.shared_races = false;
  options_.uninitialised = true;
  EXPECT_EQ(finding([&] {
              begin(0, full_mask, own_word);
              on_shared(read, 0, lane0, 0);
              end(0, full_mask, own_word);
            }),
            nothing);
}

}  // namespace
}  // namespace cudal1::vgpu
