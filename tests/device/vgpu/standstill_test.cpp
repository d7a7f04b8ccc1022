// Kernels that wait for ever are found out, and those that only wait for long are not.
#include "small_kernel.hpp"

namespace cudal1::vgpu {
namespace {

class WaitingForEver : public SmallKernel {
 protected:
  //! Without a budget that might end it first.
  void load(const std::string& body, const std::string& outside = "") {
    SmallKernel::load(body, outside);
    launch_.most_instructions = launch_.most_block_instructions = ~std::uint64_t{0};
  }
};

TEST_F(WaitingForEver, BlocksThatWaitForOneThatHasNoPlaceAreNamed) {
  load(
      "mov.u32 %r9, %nctaid.x;\natom.global.add.u32 %r6, [%rd4], 1;\nWAIT:\n.loc 1 9 1\nld.volatile.global.u32 %r7, "
      "[%rd4];\n"
      "setp.lt.u32 %p2, %r7, %r9;\n@%p2 bra WAIT;\n");
  launch_.resident_blocks = 3;
  EXPECT_NO_THROW(run(3, 1));
  y_[0] = 0;
  EXPECT_EQ(fault_of(5, 1),
            "deadlock: what still runs (3 warps) only looks at memory that nobody changes any more: byte 0 of 'y', "
            "which has 16384 (address 0x200000); 2 blocks have not begun, since only 3 have a place at the same time "
            "(line 9, block (0, 0, 0), thread (0, 0, 0))");
}

TEST_F(WaitingForEver, AtomicsThatChangeNothingDoNotHideIt) {
  for (const char* poll : {"atom.global.add.u32 %r6, [%rd4], 0;\n", "atom.global.cas.b32 %r6, [%rd4], 7, 9;\n",
                           "atom.global.exch.b32 %r6, [%rd4], 0;\n"}) {
    load(std::string("WAIT:\n") + poll + "setp.eq.u32 %p1, %r6, 0;\n@%p1 bra WAIT;\n");
    EXPECT_NE(fault_of(2, 64).find("deadlock: what still runs (4 warps) only looks"), std::string::npos) << poll;
  }
}

TEST_F(WaitingForEver, ALockThatNobodyGivesBack) {
  load("LOCK:\natom.global.cas.b32 %r6, [%rd4], 0, 1;\nsetp.ne.u32 %p1, %r6, 0;\n@%p1 bra LOCK;\n");
  EXPECT_NE(fault_of(1, 64).find("byte 0 of 'y'"), std::string::npos);
}

TEST_F(WaitingForEver, AFlagInSharedMemory) {
  // The second warp waits at a barrier, and the first looks for what it would do after that.
  load(
      "mov.u64 %rd7, tile;\nsetp.ge.u32 %p1, %r5, 32;\nst.shared.u32 [%rd7+8], 0;\n@%p1 bra SECOND;\nWAIT:\n"
      ".loc 1 5 1\nld.volatile.shared.u32 %r7, [%rd7+8];\nsetp.eq.u32 %p2, %r7, 0;\n@%p2 bra WAIT;\nSECOND:\n"
      "bar.sync 0;\nst.volatile.shared.u32 [%rd7+8], 1;\n",
      ".shared .align 16 .b8 tile[64];\n");
  EXPECT_EQ(
      fault_of(4, 64),
      "deadlock: what still runs (1 warp) only looks at memory that nobody changes any more: byte 8 of shared memory "
      "(byte 8 of 'tile', 64 bytes) (line 5, block (0, 0, 0), thread (0, 0, 0))");
}

TEST_F(WaitingForEver, ALoopInWhichNothingChanges) {
  load("LOOP:\n.loc 1 4 1\nadd.s32 %r6, %r5, 1;\nbra LOOP;\n");
  EXPECT_NE(fault_of(3, 64).find("too many instructions: the kernel does not end (line 4"), std::string::npos);
}

TEST_F(WaitingForEver, WhoCountsHowOftenItLooks) {
  load(
      "mov.u32 %r8, 0;\nWAIT:\nadd.s32 %r8, %r8, 1;\n.loc 1 3 1\nld.volatile.global.u32 %r7, [%rd4+12];\n"
      "setp.eq.u32 %p2, %r7, 0;\n@%p2 bra WAIT;\nst.global.u32 [%rd2], %r8;\n");
  EXPECT_EQ(fault_of(2, 32),
            "too many instructions: what still runs (2 warps) only looks at memory that nobody changes any more: byte "
            "12 of 'y', which has 16384 (address 0x20000c) (line 3, block (0, 0, 0), thread (0, 0, 0))");
}

using WaitingForLong = WaitingForEver;

//! Block 1 does something for long and then sets the word that block 0 waits for.
std::string wait_while_the_other(const std::string& does) {
  return "setp.ne.u32 %p1, %r3, 0;\n@%p1 bra OTHER;\nWAIT:\nld.volatile.global.u32 %r7, [%rd4];\n"
         "setp.eq.u32 %p2, %r7, 0;\n@%p2 bra WAIT;\nbra DONE;\nOTHER:\nmov.u32 %r8, 0;\nLOOP:\n" +
         does +
         "add.s32 %r8, %r8, 1;\nsetp.lt.u32 %p3, %r8, 600000;\n@%p3 bra LOOP;\nst.volatile.global.u32 [%rd4], 1;\n"
         "DONE:\n";
}

TEST_F(WaitingForLong, ForSomebodyWhoOnlyCounts) {
  load(wait_while_the_other(""));
  EXPECT_NO_THROW(run(2, 1));
}

TEST_F(WaitingForLong, ForSomebodyWhoCountsInMemory) {
  // Its registers are the same after every round.
  load(
      "setp.ne.u32 %p1, %r3, 0;\n@%p1 bra OTHER;\nWAIT:\nld.volatile.global.u32 %r7, [%rd4];\n"
      "setp.eq.u32 %p2, %r7, 0;\n@%p2 bra WAIT;\nbra DONE;\nOTHER:\n"
      "atom.global.add.u32 %r8, [%rd4+4], 1;\nsetp.lt.u32 %p3, %r8, 20000;\nmov.u32 %r8, 0;\n@%p3 bra OTHER;\n"
      "st.volatile.global.u32 [%rd4], 1;\nDONE:\n");
  EXPECT_NO_THROW(run(2, 1));
  EXPECT_EQ(y_[1], 20001u);
}

TEST_F(WaitingForLong, WhoReadsOnAndOnWithoutWaiting) {
  // Volatile reads of one word after the other, and no writes.
  load(
      "mov.u32 %r8, 0;\nmov.u32 %r9, 0;\nLOOP:\nand.b32 %r10, %r8, 1023;\nmul.wide.u32 %rd6, %r10, 4;\n"
      "add.s64 %rd6, %rd3, %rd6;\nld.volatile.global.u32 %r7, [%rd6];\nadd.s32 %r9, %r9, %r7;\n"
      "add.s32 %r8, %r8, 1;\nsetp.lt.u32 %p3, %r8, 400000;\n@%p3 bra LOOP;\nst.global.u32 [%rd2], %r9;\n");
  x_[5] = 3;
  EXPECT_NO_THROW(run(1, 1));
  EXPECT_EQ(y_[0], 3u * (400000 / 1024 + 1));
}

TEST_F(WaitingForLong, WhoLooksNowAndThenWhetherToStop) {
  std::string work;
  for (int i = 0; i < 40; ++i) work += "mad.lo.s32 %r9, %r9, 5, %r8;\n";
  load(
      "mov.u32 %r8, 0;\nmov.u32 %r9, 0;\nLOOP:\nld.volatile.global.u32 %r7, [%rd3];\nsetp.ne.u32 %p2, %r7, 0;\n"
      "@%p2 bra DONE;\n" +
      work +
      "add.s32 %r8, %r8, 1;\nsetp.lt.u32 %p3, %r8, 200000;\n@%p3 bra LOOP;\nst.global.u32 [%rd2], %r8;\nDONE:\n");
  EXPECT_NO_THROW(run(1, 32));
  EXPECT_EQ(y_[0], 200000u);
}

TEST_F(WaitingForLong, TheChecksMissNothing) {
  struct Seen : AccessObserver {
    explicit Seen(std::uint64_t& all) : count(all) {}
    void shared(const WarpAccess&) override {}
    void global(const WarpAccess&) override { ++count; }
    void local(const WarpAccess&) override {}
    void block_barrier(std::span<const Mask>) override {}
    void warp_barrier(std::uint32_t, Mask) override {}
    void end() override {}
    std::uint64_t& count;
  };
  std::uint64_t seen = 0;
  launch_.observers = [&](Index3) { return std::make_unique<Seen>(seen); };
  load(
      "mov.u32 %r8, 0;\nLOOP:\natom.global.add.u32 %r6, [%rd4], 1;\nadd.s32 %r8, %r8, 1;\n"
      "setp.lt.u32 %p3, %r8, 1000;\n@%p3 bra LOOP;\n");
  run(3, 32);
  EXPECT_EQ(seen, 3000u);
}

}  // namespace
}  // namespace cudal1::vgpu
