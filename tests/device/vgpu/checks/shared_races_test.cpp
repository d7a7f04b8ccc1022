#include "checked_launch.hpp"

namespace cudal1::vgpu {
namespace {

std::uint64_t own_word(std::uint64_t lane) { return 4 * lane; }
std::uint64_t next_word(std::uint64_t lane) { return 4 * (lane + 1); }

class SharedRacesTest : public CheckedLaunchTest {
 protected:
  void SetUp() override {
    CheckedLaunchTest::SetUp();
    options_.uninitialised = options_.global_races = false;
  }
  void on_shared(AccessKind kind, std::uint32_t warp, Mask lanes, const Addresses& addresses, std::uint32_t bytes = 4) {
    block().shared(access(kind, warp, lanes, addresses, bytes));
  }
  void on_shared(AccessKind kind, std::uint32_t warp, Mask lanes, std::uint64_t address, std::uint32_t bytes = 4) {
    block().shared(access_at(kind, warp, lanes, address, bytes));
  }
  void on_shared_storing(std::uint32_t warp, Mask lanes, std::uint64_t address,
                         const std::function<std::uint32_t(std::uint32_t)>& value) {
    block().shared(storing(access_at(write, warp, lanes, address), value));
  }
};

TEST_F(SharedRacesTest, AReadOfWhatAnotherWarpWroteNamesBoth) {
  EXPECT_EQ(finding([&] {
              on_shared(write, 0, full_mask, own_word);
              on_shared(read, 1, lane1, 12);
            }),
            FaultKind::shared_race);
  EXPECT_EQ(
      message_,
      "race in shared memory: kernel 'k' reads byte 12 of shared memory (byte 4 of 'rows', 1016 bytes), which thread "
      "(3, 0, 0) writes at line 1, with no barrier between them (line 2, block (0, 0, 0), thread (33, 0, 0))");
}

TEST_F(SharedRacesTest, AWriteOfWhatAnotherWarpRead) {
  EXPECT_EQ(finding([&] {
              on_shared(read, 0, full_mask, own_word);
              on_shared(write, 1, full_mask, own_word);
            }),
            FaultKind::shared_race);
}

TEST_F(SharedRacesTest, LanesThatLieTogetherByEights) {
  const auto one_by_eights = [](std::uint64_t lane) { return 64 * (lane / 8); };
  const auto rows = [](std::uint64_t lane) { return 64 * (lane / 8) + 4 * (lane % 8); };
  const auto read_and_write = [&](const Addresses& addresses, std::uint64_t address) {
    return finding([&] {
      barrier();
      on_shared(write, 2, lane0, 1000);  // else reads are not looked at before somebody writes
      on_shared(read, 0, full_mask, addresses);
      on_shared(write, 1, lane0, address);
    });
  };
  EXPECT_EQ(read_and_write(one_by_eights, 128), FaultKind::shared_race);
  EXPECT_NE(message_.find("byte 128 of shared memory (byte 120 of 'rows', 1016 bytes), which thread (16, 0, 0) reads"),
            std::string::npos)
      << message_;
  EXPECT_EQ(read_and_write(one_by_eights, 132), std::nullopt);
  EXPECT_EQ(read_and_write(rows, 64 * 3 + 28), FaultKind::shared_race);
  EXPECT_NE(message_.find("thread (31, 0, 0) reads"), std::string::npos) << message_;
  EXPECT_EQ(read_and_write(rows, 64 * 3 + 32), std::nullopt);
}

TEST_F(SharedRacesTest, ReadsBeforeTheFirstWriteAreNotForgotten) {
  const auto rows = [](std::uint64_t lane) { return 64 * (lane / 8) + 4 * (lane % 8); };
  EXPECT_EQ(finding([&] {
              on_shared(read, 0, full_mask, rows);
              on_shared(write, 1, lane0, 1000);
              on_shared(write, 1, lane0, 64 + 4);
            }),
            FaultKind::shared_race);
  EXPECT_NE(message_.find("thread (9, 0, 0) reads"), std::string::npos) << message_;
}

TEST_F(SharedRacesTest, AWriteOfWhatAnotherWarpWrote) {
  EXPECT_EQ(finding([&] {
              on_shared(write, 3, lane0, 8);
              on_shared(write, 2, lane0, 8);
            }),
            FaultKind::shared_race);
}

TEST_F(SharedRacesTest, AWriteFindsTheReaderOfTheOtherWarpBehindItsOwnReads) {
  EXPECT_EQ(finding([&] {
              on_shared(read, 1, lane0, 0);
              on_shared(read, 0, lane0, 0);
              on_shared(write, 0, lane0, 0);
            }),
            FaultKind::shared_race);
}

TEST_F(SharedRacesTest, ABarrierOfAllThreadsOrdersEverything) {
  EXPECT_EQ(finding([&] {
              on_shared(write, 0, full_mask, own_word);
              barrier();
              on_shared(read, 1, full_mask, own_word);
              barrier();
              on_shared(write, 2, full_mask, own_word);
            }),
            nothing);
}

TEST_F(SharedRacesTest, ReadersDoNotDisturbEachOther) {
  EXPECT_EQ(finding([&] {
              for (std::uint32_t warp = 0; warp < 4; ++warp) on_shared(read, warp, full_mask, 0);
            }),
            nothing);
}

TEST_F(SharedRacesTest, NeighbouringBytesAreNotTheSame) {
  EXPECT_EQ(finding([&] {
              on_shared(write, 0, lane0, 16, 4);
              barrier();
              on_shared(write, 0, lane0, 0, 1);
              on_shared(write, 1, lane0, 1, 1);
              on_shared(write, 2, lane0, 2, 2);
              on_shared(read, 3, lane0, 4, 4);
            }),
            nothing);
}

TEST_F(SharedRacesTest, BytesOfAWordThatWasWrittenAsOne) {
  EXPECT_EQ(finding([&] {
              on_shared(write, 0, lane0, 0, 4);
              on_shared(read, 1, lane0, 3, 1);
            }),
            FaultKind::shared_race);
}

TEST_F(SharedRacesTest, AVectorTouchesAllItsWords) {
  EXPECT_EQ(finding([&] {
              on_shared(write, 0, lane0, 12, 4);
              on_shared(read, 1, lane0, 0, 16);
            }),
            FaultKind::shared_race);
}

// --- lanes of one warp
TEST_F(SharedRacesTest, LanesOfAWarpAreNotInStep) {
  EXPECT_EQ(finding([&] {
              on_shared(write, 0, full_mask, own_word);
              on_shared(read, 0, full_mask, next_word);
            }),
            FaultKind::shared_race);
  EXPECT_NE(message_.find("in the same warp: its lanes are not in step without __syncwarp()"), std::string::npos);
}

TEST_F(SharedRacesTest, AWriteOfWhatAnotherLaneRead) {
  EXPECT_EQ(finding([&] {
              on_shared(read, 0, full_mask, next_word);
              on_shared(write, 0, full_mask, own_word);
            }),
            FaultKind::shared_race);
}

TEST_F(SharedRacesTest, TwoRunsOfOneInstructionAreTwo) {
  EXPECT_EQ(finding([&] {
              on_shared(write, 0, lane0, 0);
              on_shared(write, 0, lane1, 0);
            }),
            FaultKind::shared_race);
}

TEST_F(SharedRacesTest, AThreadMayDoWhatItWants) {
  EXPECT_EQ(finding([&] {
              on_shared(write, 0, full_mask, own_word);
              on_shared(read, 0, full_mask, own_word);
              on_shared(atomic, 0, full_mask, own_word);
              on_shared(write, 0, full_mask, own_word);
            }),
            nothing);
}

TEST_F(SharedRacesTest, AWarpBarrierOrdersItsLanes) {
  EXPECT_EQ(finding([&] {
              on_shared(write, 0, full_mask, own_word);
              block().warp_barrier(0, full_mask);
              on_shared(read, 0, 0x7fffffff, next_word);
              block().warp_barrier(0, full_mask);
              on_shared(write, 0, full_mask, own_word);
            }),
            nothing);
}

TEST_F(SharedRacesTest, AWarpBarrierOrdersNoOtherWarp) {
  EXPECT_EQ(finding([&] {
              on_shared(write, 0, full_mask, own_word);
              block().warp_barrier(0, full_mask);
              block().warp_barrier(1, full_mask);
              on_shared(read, 1, full_mask, own_word);
            }),
            FaultKind::shared_race);
}

TEST_F(SharedRacesTest, AWarpBarrierOfSomeLanesOrdersThese) {
  EXPECT_EQ(finding([&] {
              on_shared(write, 0, lane0, 0);
              block().warp_barrier(0, 0xf);
              on_shared(read, 0, 0xf, 0);
            }),
            nothing);
  EXPECT_EQ(finding([&] { on_shared(read, 0, 0x10, 0); }), FaultKind::shared_race);
}

TEST_F(SharedRacesTest, WhatALaneKnowsItPassesOn) {
  EXPECT_EQ(finding([&] {
              on_shared(write, 0, lane0, 0);
              block().warp_barrier(0, 0x3);
              block().warp_barrier(0, 0x6);
              on_shared(read, 0, 0x4, 0);
            }),
            nothing);
}

TEST_F(SharedRacesTest, AShortWarpIsWhole) {
  launch_.block = {40, 1, 1};
  EXPECT_EQ(finding([&] {
              on_shared(write, 1, 0xff, own_word);
              block().warp_barrier(1, 0xff);
              on_shared(read, 1, 0x7f, next_word);
            }),
            nothing);
}

// --- the same value
TEST_F(SharedRacesTest, ManyMayWriteTheSameValue) {
  EXPECT_EQ(finding([&] {
              for (std::uint32_t warp = 0; warp < 4; ++warp)
                on_shared_storing(warp, full_mask, 0, [](std::uint32_t) { return 1u; });
            }),
            nothing);
}

TEST_F(SharedRacesTest, WarpsThatWriteDifferentValues) {
  EXPECT_EQ(finding([&] {
              for (std::uint32_t warp = 0; warp < 2; ++warp)
                on_shared_storing(warp, lane0, 0, [&](std::uint32_t) { return warp; });
            }),
            FaultKind::shared_race);
}

TEST_F(SharedRacesTest, LanesThatWriteDifferentValuesInOneInstruction) {
  EXPECT_EQ(finding([&] { on_shared_storing(0, full_mask, 0, [](std::uint32_t lane) { return lane; }); }),
            FaultKind::shared_race);
  EXPECT_NE(message_.find("in the same instruction, with another value"), std::string::npos);
}

TEST_F(SharedRacesTest, WithoutValuesOneInstructionIsBelieved) {
  EXPECT_EQ(finding([&] { on_shared(write, 0, full_mask, 0); }), nothing);
}

// --- barriers of some warps
TEST_F(SharedRacesTest, APartialBarrierOrdersThoseThatTookPart) {
  EXPECT_EQ(finding([&] {
              on_shared(write, 0, full_mask, own_word);
              barrier(0b0011);
              on_shared(read, 1, full_mask, own_word);
              on_shared(read, 0, 0x7fffffff, next_word);
            }),
            nothing);
  EXPECT_EQ(finding([&] { on_shared(read, 2, full_mask, own_word); }), FaultKind::shared_race);
}

TEST_F(SharedRacesTest, PartialBarriersFormChains) {
  EXPECT_EQ(finding([&] {
              on_shared(write, 0, full_mask, own_word);
              barrier(0b0011);
              barrier(0b0110);
              on_shared(read, 2, full_mask, own_word);
            }),
            nothing);
}

TEST_F(SharedRacesTest, WhatIsWrittenBehindAPartialBarrierIsNotOrderedByIt) {
  EXPECT_EQ(finding([&] {
              barrier(0b0011);
              on_shared(write, 0, full_mask, own_word);
              on_shared(read, 1, full_mask, own_word);
            }),
            FaultKind::shared_race);
}

// --- atomics
TEST_F(SharedRacesTest, AtomicsMayMeet) {
  EXPECT_EQ(finding([&] {
              for (std::uint32_t warp = 0; warp < 4; ++warp) on_shared(atomic, warp, full_mask, 0);
            }),
            nothing);
}

TEST_F(SharedRacesTest, AnAtomicAndAPlainReadDoNot) {
  EXPECT_EQ(finding([&] {
              on_shared(atomic, 0, full_mask, own_word);
              on_shared(read, 1, lane0, 0);
            }),
            FaultKind::shared_race);
}

TEST_F(SharedRacesTest, AnAtomicAndAGuessMayMeet) {
  EXPECT_EQ(finding([&] {
              for (std::uint32_t warp = 0; warp < 4; ++warp) {
                block().shared(guess(access_at(read, warp, full_mask, 0)));
                on_shared(atomic, warp, full_mask, 0);
              }
              block().shared(guess(access_at(read, 0, lane1, 0)));
            }),
            nothing);
}

TEST_F(SharedRacesTest, AGuessHidesNoRead) {
  EXPECT_EQ(finding([&] {
              on_shared(read, 0, lane0, 0);
              block().shared(guess(access_at(read, 0, lane1, 0)));
              on_shared(atomic, 1, lane0, 0);
            }),
            FaultKind::shared_race);
}

TEST_F(SharedRacesTest, APlainWriteAndAGuessDoNot) {
  EXPECT_EQ(finding([&] {
              block().shared(guess(access_at(read, 0, lane0, 0)));
              on_shared(write, 1, lane0, 0);
            }),
            FaultKind::shared_race);
}

TEST_F(SharedRacesTest, AnAtomicAndAPlainWriteDoNot) {
  EXPECT_EQ(finding([&] {
              on_shared(write, 0, lane0, 0);
              on_shared(atomic, 1, lane0, 0);
            }),
            FaultKind::shared_race);
}

TEST_F(SharedRacesTest, AFenceAndAnAtomicHandOver) {
  EXPECT_EQ(finding([&] {
              on_shared(write, 0, lane0, 0);
              block().fence(0, lane0);
              on_shared(atomic, 0, lane0, 64);
              on_shared(atomic, 1, lane0, 64);
              on_shared(read, 1, lane0, 0);
            }),
            nothing);
}

TEST_F(SharedRacesTest, WithoutTheFenceNothingIsHandedOver) {
  EXPECT_EQ(finding([&] {
              on_shared(write, 0, lane0, 0);
              on_shared(atomic, 0, lane0, 64);
              on_shared(atomic, 1, lane0, 64);
              on_shared(read, 1, lane0, 0);
            }),
            FaultKind::shared_race);
}

TEST_F(SharedRacesTest, WhatIsWrittenBehindTheFenceIsNotHandedOver) {
  EXPECT_EQ(finding([&] {
              block().fence(0, lane0);
              on_shared(write, 0, lane0, 0);
              on_shared(atomic, 0, lane0, 64);
              on_shared(atomic, 1, lane0, 64);
              on_shared(read, 1, lane0, 0);
            }),
            FaultKind::shared_race);
}

TEST_F(SharedRacesTest, AVolatileFlagHandsOverBetweenWarps) {
  EXPECT_EQ(finding([&] {
              on_shared(write, 0, lane0, 0);
              block().fence(0, lane0);
              block().shared(strong(access_at(write, 0, lane0, 64)));
              block().shared(strong(access_at(read, 1, lane0, 64)));
              on_shared(read, 1, lane0, 0);
            }),
            nothing);
}

TEST_F(SharedRacesTest, VolatileDoesNotKeepLanesInStep) {
  EXPECT_EQ(finding([&] {
              block().shared(strong(access(write, 0, full_mask, own_word)));
              block().shared(strong(access(read, 0, full_mask, next_word)));
            }),
            FaultKind::shared_race);
}

TEST_F(SharedRacesTest, AnAccessFarBackIsNotForgotten) {
  EXPECT_EQ(finding([&] {
              on_shared(read, 0, lane0, 512);
              for (int i = 0; i < 10'000; ++i) on_shared(read, 0, full_mask, own_word);
              on_shared(write, 1, lane0, 512);
            }),
            FaultKind::shared_race);
}

TEST_F(SharedRacesTest, ValuesAreKeptUntilSomebodyElseWrites) {
  const auto write_here_and_there = [&](std::uint32_t warp, std::uint32_t offset) {
    const auto& made = access(write, warp, full_mask, [](std::uint64_t lane) { return 8 * (31 - lane); });
    block().shared(storing(made, [=](std::uint32_t lane) { return lane + offset; }));
  };
  EXPECT_EQ(finding([&] {
              write_here_and_there(0, 7);
              on_shared_storing(1, lane0, 512, [](std::uint32_t) { return 0u; });
              write_here_and_there(1, 7);
            }),
            nothing);
  EXPECT_EQ(finding([&] { write_here_and_there(2, 8); }), FaultKind::shared_race);
}

TEST_F(SharedRacesTest, AfterABarrierOldAccessesAreForgotten) {
  EXPECT_EQ(finding([&] {
              on_shared(write, 0, full_mask, own_word);
              on_shared(read, 0, full_mask, own_word);
              barrier();
              on_shared(read, 1, full_mask, own_word);
              barrier();
              on_shared(write, 2, full_mask, own_word);
              on_shared(write, 2, full_mask, own_word);
            }),
            nothing);
}

TEST_F(SharedRacesTest, CanBeTurnedOff) {
  options_.shared_races = false;
  options_.uninitialised = true;
  EXPECT_EQ(finding([&] {
              on_shared(write, 0, full_mask, own_word);
              on_shared(read, 1, full_mask, own_word);
            }),
            nothing);
}

}  // namespace
}  // namespace cudal1::vgpu
