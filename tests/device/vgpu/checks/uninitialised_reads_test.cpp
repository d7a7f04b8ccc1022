#include "checked_launch.hpp"

namespace cudal1::vgpu {
namespace {

class UninitialisedReadsTest : public CheckedLaunchTest {
 protected:
  void SetUp() override {
    CheckedLaunchTest::SetUp();
    options_.shared_races = options_.global_races = false;
    scratch_.add_uninitialised(buffer_address + 4096, 4096);
  }
  void on_shared(AccessKind kind, std::uint64_t address, std::uint32_t bytes = 4) {
    block().shared(access_at(kind, 0, lane0, address, bytes));
  }
  void on_local(AccessKind kind, std::uint32_t warp, Mask lanes, std::uint64_t address, std::uint32_t bytes = 4) {
    block().local(access_at(kind, warp, lanes, address, bytes));
  }
  //! In the scratch buffer.
  void on_scratch(AccessKind kind, std::uint64_t offset, std::uint32_t bytes = 4, std::uint32_t of_block = 0) {
    block(of_block).global(access_at(kind, 0, lane0, buffer_address + 4096 + offset, bytes));
  }
};

TEST_F(UninitialisedReadsTest, SharedMemoryThatNobodyWrote) {
  EXPECT_EQ(finding([&] {
              on_shared(write, 0);
              on_shared(read, 4);
            }),
            FaultKind::uninitialised_read);
  EXPECT_EQ(
      message_,
      "uninitialised read: kernel 'k' reads byte 4 of shared memory (byte 4 of 'tile', 8 bytes), where nothing was "
      "written; if another thread writes there, a barrier is missing before the read (line 2, block (0, 0, 0), thread "
      "(0, 0, 0))");
}

TEST_F(UninitialisedReadsTest, SharedMemoryThatWasWrittenInPart) {
  EXPECT_EQ(finding([&] {
              on_shared(write, 8, 2);
              on_shared(read, 8, 4);
            }),
            FaultKind::uninitialised_read);
  EXPECT_NE(message_.find("byte 10 of shared"), std::string::npos);
}

TEST_F(UninitialisedReadsTest, AnAtomicReads) {
  EXPECT_EQ(finding([&] { on_shared(atomic, 0); }), FaultKind::uninitialised_read);
}

TEST_F(UninitialisedReadsTest, PaddingThatAVectorLoadTakesAlong) {
  EXPECT_EQ(finding([&] {
              on_shared(write, 0, 8);
              on_shared(write, 8, 4);
              on_shared(read, 0, 16);
            }),
            FaultKind::uninitialised_read);
}

TEST_F(UninitialisedReadsTest, AnElementThatWasWrittenInPartHoldsPadding) {
  EXPECT_EQ(finding([&] {
              on_shared(write, 0, 8);
              on_shared(write, 8, 1);
              block().shared(of_elements(access_at(read, 0, lane0, 0, 16), 8));
              on_local(write, 0, lane0, 8, 1);
              block().local(of_elements(access_at(read, 0, lane0, 8, 4), 4));
              on_scratch(write, 6, 2);
              block().global(of_elements(access_at(read, 0, lane0, buffer_address + 4096, 8), 8));
            }),
            nothing);
}

TEST_F(UninitialisedReadsTest, AnElementThatNobodyWroteBesideOneThatSomebodyDid) {
  EXPECT_EQ(finding([&] {
              on_shared(write, 0, 8);
              on_shared(write, 8, 1);
              block().shared(of_elements(access_at(read, 0, lane0, 0, 16), 4));
            }),
            FaultKind::uninitialised_read);
  EXPECT_NE(message_.find("byte 12 of shared"), std::string::npos);
}

TEST_F(UninitialisedReadsTest, AnAtomicHasNoPadding) {
  EXPECT_EQ(finding([&] {
              on_shared(write, 8, 2);
              block().shared(of_elements(access_at(atomic, 0, lane0, 8, 4), 4));
            }),
            FaultKind::uninitialised_read);
}

TEST_F(UninitialisedReadsTest, SharedMemoryThatWasWrittenPieceByPiece) {
  EXPECT_EQ(finding([&] {
              for (std::uint64_t byte = 0; byte < 16; ++byte) on_shared(write, 48 + byte, 1);
              on_shared(read, 48, 16);
              on_shared(atomic, 52);
              on_shared(read, 63, 1);
            }),
            nothing);
}

TEST_F(UninitialisedReadsTest, SharedMemoryThatAnotherWarpWrote) {
  EXPECT_EQ(finding([&] {
              block().shared(access(
                  write, 3, full_mask, [](std::uint64_t lane) { return 8 * lane; }, 8));
              block().shared(access(
                  read, 0, full_mask, [](std::uint64_t lane) { return 252 - 8 * lane; }, 4));
            }),
            nothing);
}

TEST_F(UninitialisedReadsTest, TheLastBytesOfSharedMemory) {
  EXPECT_EQ(finding([&] {
              on_shared(write, 1020);
              on_shared(read, 1022, 2);
            }),
            nothing);
}

TEST_F(UninitialisedReadsTest, SharedMemoryOfAnotherBlockIsAnother) {
  EXPECT_EQ(finding([&] {
              on_shared(write, 0);
              block(1).shared(access_at(read, 0, lane0, 0));
            }),
            FaultKind::uninitialised_read);
}

TEST_F(UninitialisedReadsTest, LocalMemoryIsEveryThreadsOwn) {
  EXPECT_EQ(finding([&] {
              on_local(write, 1, 0x0fffffff, 8);
              on_local(read, 1, 0x0fffffff, 8);
            }),
            nothing);
  EXPECT_EQ(finding([&] { on_local(read, 1, full_mask, 8); }), FaultKind::uninitialised_read);
  EXPECT_NE(message_.find("byte 8 of its local memory"), std::string::npos);
  EXPECT_NE(message_.find("thread (60, 0, 0)"), std::string::npos);
}

TEST_F(UninitialisedReadsTest, LocalMemoryOfAnotherWarp) {
  EXPECT_EQ(finding([&] {
              on_local(write, 0, full_mask, 16, 8);
              on_local(read, 2, full_mask, 16, 8);
            }),
            FaultKind::uninitialised_read);
}

TEST_F(UninitialisedReadsTest, LocalMemoryThatWasWrittenInPart) {
  EXPECT_EQ(finding([&] {
              on_local(write, 0, lane0, 0, 4);
              on_local(read, 0, lane0, 0, 8);
            }),
            FaultKind::uninitialised_read);
}

TEST_F(UninitialisedReadsTest, LocalMemoryThatWasWrittenBefore) {
  EXPECT_EQ(finding([&] {
              on_local(write, 0, full_mask, 0, 8);
              on_local(write, 0, full_mask, 8, 8);
              on_local(write, 0, full_mask, 16, 8);
              on_local(read, 0, full_mask, 20, 1);
            }),
            nothing);
}

TEST_F(UninitialisedReadsTest, ScratchThatNobodyWrote) {
  EXPECT_EQ(finding([&] { on_scratch(read, 64); }), FaultKind::uninitialised_read);
  EXPECT_NE(message_.find("byte 4160 of 'buffer', which has 16384 (address 0x11040)"), std::string::npos);
}

TEST_F(UninitialisedReadsTest, ScratchThatWasWrittenInPart) {
  EXPECT_EQ(finding([&] {
              on_scratch(write, 0, 8);
              on_scratch(read, 0, 16);
            }),
            FaultKind::uninitialised_read);
}

TEST_F(UninitialisedReadsTest, AnAtomicOnScratchReads) {
  EXPECT_EQ(finding([&] { on_scratch(atomic, 0); }), FaultKind::uninitialised_read);
}

TEST_F(UninitialisedReadsTest, ScratchThatAnotherBlockWrote) {
  EXPECT_EQ(finding([&] {
              on_scratch(write, 8, 8, 2);
              on_scratch(read, 12, 4, 0);
            }),
            nothing);
}

TEST_F(UninitialisedReadsTest, ScratchThatAnEarlierLaunchWrote) {
  on_scratch(write, 8, 8);
  blocks_.clear();
  checks_ = nullptr;
  EXPECT_EQ(finding([&] { on_scratch(read, 8, 8); }), nothing);
}

TEST_F(UninitialisedReadsTest, ScratchThatWasFilledByOtherMeans) {
  scratch_.set_written(buffer_address + 4096, 4096);
  EXPECT_EQ(finding([&] { on_scratch(read, 4080, 16); }), nothing);
}

TEST_F(UninitialisedReadsTest, OtherBuffersAreInitialised) {
  EXPECT_EQ(finding([&] { block().global(access_at(read, 0, lane0, buffer_address + 4092)); }), nothing);
}

TEST_F(UninitialisedReadsTest, ScratchThatIsNewAgain) {
  on_scratch(write, 0);
  scratch_.add_uninitialised(buffer_address + 4096, 4096);
  blocks_.clear();
  EXPECT_EQ(finding([&] { on_scratch(read, 0); }), FaultKind::uninitialised_read);
}

TEST_F(UninitialisedReadsTest, CanBeTurnedOff) {
  options_.uninitialised = false;
  options_.shared_races = true;
  EXPECT_EQ(finding([&] { on_shared(read, 0); }), nothing);
}

}  // namespace
}  // namespace cudal1::vgpu
