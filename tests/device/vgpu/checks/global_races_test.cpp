#include <latch>
#include <thread>

#include "checked_launch.hpp"

namespace cudal1::vgpu {
namespace {

constexpr std::uint64_t counter = 8192;

class GlobalRacesTest : public CheckedLaunchTest {
 protected:
  void SetUp() override {
    CheckedLaunchTest::SetUp();
    options_.uninitialised = options_.shared_races = false;
  }
  void on_global(std::uint32_t of_block, AccessKind kind, std::uint64_t offset, std::uint32_t bytes = 4) {
    block(of_block).global(access_at(kind, 0, lane0, buffer_address + offset, bytes));
  }
  void whole_warp(std::uint32_t of_block, AccessKind kind, std::uint64_t offset, std::uint32_t bytes = 4) {
    block(of_block).global(access(
        kind, 0, full_mask, [=](std::uint64_t lane) { return buffer_address + offset + bytes * lane; }, bytes));
  }
  void fence(std::uint32_t of_block) { block(of_block).fence(0, lane0); }
};

TEST_F(GlobalRacesTest, AReadOfWhatAnotherBlockWroteNamesBoth) {
  EXPECT_EQ(finding([&] {
              whole_warp(2, write, 0);
              on_global(0, read, 12);
            }),
            FaultKind::global_race);
  EXPECT_EQ(message_,
            "race in global memory: kernel 'k' reads byte 12 of 'buffer', which has 16384 (address 0x1000c), which "
            "block (2, 0, 0) writes at line 1, and nothing orders the two (line 2, block (0, 0, 0), thread (0, 0, 0))");
}

TEST_F(GlobalRacesTest, AWriteOfWhatAnotherBlockRead) {
  EXPECT_EQ(finding([&] {
              whole_warp(0, read, 0, 16);
              whole_warp(1, write, 256);
            }),
            FaultKind::global_race);
}

TEST_F(GlobalRacesTest, AWriteOfWhatAnotherBlockWrote) {
  EXPECT_EQ(finding([&] {
              on_global(0, write, 0);
              on_global(3, write, 0);
            }),
            FaultKind::global_race);
}

TEST_F(GlobalRacesTest, AWriteFindsTheSecondReader) {
  EXPECT_EQ(finding([&] {
              on_global(1, read, 0);
              on_global(2, read, 0);
              on_global(1, write, 0);
            }),
            FaultKind::global_race);
}

TEST_F(GlobalRacesTest, APlainWriteOfWhatOthersChangeAtomically) {
  EXPECT_EQ(finding([&] {
              on_global(0, atomic, 0);
              on_global(1, write, 0);
            }),
            FaultKind::global_race);
}

TEST_F(GlobalRacesTest, BytesOfAWordThatWasWrittenAsOne) {
  EXPECT_EQ(finding([&] {
              on_global(0, write, 0, 4);
              on_global(1, write, 2, 2);
            }),
            FaultKind::global_race);
}

TEST_F(GlobalRacesTest, EveryBlockOnItsOwnBytes) {
  EXPECT_EQ(finding([&] {
              for (std::uint32_t number = 0; number < 4; ++number) {
                on_global(number, write, number, 1);
                on_global(number, write, 64 + 2 * number, 2);
                whole_warp(number, write, 1024 + 512 * number, 16);
                whole_warp(number, read, 1024 + 512 * number, 16);
              }
            }),
            nothing);
}

TEST_F(GlobalRacesTest, ReadersDoNotDisturbEachOther) {
  EXPECT_EQ(finding([&] {
              for (std::uint32_t number = 0; number < 4; ++number) whole_warp(number, read, 0, 16);
            }),
            nothing);
}

TEST_F(GlobalRacesTest, AtomicsMayMeetAndBeReadMeanwhile) {
  EXPECT_EQ(finding([&] {
              for (std::uint32_t number = 0; number < 4; ++number) {
                on_global(number, atomic, 0);
                on_global(number, read, 0);
              }
            }),
            nothing);
}

TEST_F(GlobalRacesTest, ABlockMayDoWhatItWants) {
  EXPECT_EQ(finding([&] {
              whole_warp(1, read, 0);
              whole_warp(1, write, 0);
              whole_warp(1, atomic, 0);
              whole_warp(1, write, 0);
            }),
            nothing);
}

// --- hand-overs
TEST_F(GlobalRacesTest, TheLastBlockMayReadWhatTheOthersWroteBeforeTheirFences) {
  EXPECT_EQ(finding([&] {
              for (std::uint32_t number = 0; number < 4; ++number) {
                on_global(number, write, 4 * number);
                fence(number);
                on_global(number, atomic, counter);
              }
              on_global(3, read, 0, 16);
            }),
            nothing);
}

TEST_F(GlobalRacesTest, ABlockThatIsNotTheLastMayNot) {
  EXPECT_EQ(finding([&] {
              for (std::uint32_t number = 0; number < 2; ++number) {
                on_global(number, write, 4 * number);
                fence(number);
                on_global(number, atomic, counter);
              }
              on_global(2, write, 8);
              on_global(1, read, 0, 16);
            }),
            FaultKind::global_race);
}

TEST_F(GlobalRacesTest, WithoutTheFenceNothingIsHandedOver) {
  EXPECT_EQ(finding([&] {
              on_global(0, write, 0);
              on_global(0, atomic, counter);
              on_global(1, atomic, counter);
              on_global(1, read, 0);
            }),
            FaultKind::global_race);
}

TEST_F(GlobalRacesTest, WhatIsWrittenBehindTheAtomicIsNotHandedOver) {
  EXPECT_EQ(finding([&] {
              fence(0);
              on_global(0, atomic, counter);
              on_global(0, write, 0);
              on_global(1, atomic, counter);
              on_global(1, read, 0);
            }),
            FaultKind::global_race);
}

TEST_F(GlobalRacesTest, WhoAskedBeforeTheWriteKnowsNothing) {
  EXPECT_EQ(finding([&] {
              fence(0);
              on_global(0, atomic, counter);
              on_global(1, atomic, counter);
              on_global(1, read, 1024);
              on_global(0, write, 0);
              fence(0);
              on_global(0, atomic, counter);
              on_global(1, read, 0);
            }),
            FaultKind::global_race);
}

TEST_F(GlobalRacesTest, ALockGoesFromBlockToBlock) {
  EXPECT_EQ(finding([&] {
              for (std::uint32_t round = 0; round < 8; ++round) {
                on_global(round % 4, atomic, counter);
                on_global(round % 4, read, 0);
                on_global(round % 4, write, 0);
                fence(round % 4);
                on_global(round % 4, atomic, counter);
              }
            }),
            nothing);
}

TEST_F(GlobalRacesTest, APlainReadOfACounterTakes) {
  EXPECT_EQ(finding([&] {
              on_global(0, write, 0);
              fence(0);
              on_global(0, atomic, counter);
              on_global(1, read, counter);
              on_global(1, read, 0);
              on_global(1, write, 0);
            }),
            nothing);
}

TEST_F(GlobalRacesTest, AVolatileFlagHandsOver) {
  EXPECT_EQ(finding([&] {
              on_global(0, write, 0);
              fence(0);
              block(0).global(strong(access_at(write, 0, lane0, buffer_address + counter)));
              block(1).global(strong(access_at(read, 0, lane0, buffer_address + counter)));
              on_global(1, read, 0);
            }),
            nothing);
}

TEST_F(GlobalRacesTest, BlocksOnSeveralThreadsAreWatchedTogether) {
  launch_.grid = {64, 1, 1};
  for (std::uint32_t number = 0; number < 64; ++number) block(number);
  const ptx::Location place{0, 1, 1, 1};
  std::atomic<int> races = 0;
  std::latch together(2);
  const auto run = [&](std::uint32_t first) {
    std::array<std::uint64_t, warp_size> addresses{};
    WarpAccess mine{write, 4, full_mask, &addresses, 0, &place};
    together.arrive_and_wait();
    for (std::uint32_t number = first; number < 64; number += 2) {
      for (std::uint64_t lane = 0; lane < warp_size; ++lane) addresses[lane] = buffer_address + 128 * number + 4 * lane;
      blocks_.at(number)->global(mine);
      addresses.fill(buffer_address + 12'000);  // all write the same word
      try {
        blocks_.at(number)->global(mine);
      } catch (const KernelFault&) {
        ++races;
      }
    }
  };
  std::thread other(run, 1);
  run(0);
  other.join();
  EXPECT_EQ(races, 63);
}

TEST_F(GlobalRacesTest, CanBeTurnedOff) {
  options_.global_races = false;
  options_.shared_races = true;
  EXPECT_EQ(finding([&] {
              on_global(0, write, 0);
              on_global(1, write, 0);
            }),
            nothing);
}

TEST_F(GlobalRacesTest, WithoutAnyCheckNothingIsObserved) {
  EXPECT_FALSE(make_observers({false, false, false}, launch_));
}

}  // namespace
}  // namespace cudal1::vgpu
