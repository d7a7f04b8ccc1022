// Threads that wait for each other: in a block, in a warp, across blocks.
#include "small_kernel.hpp"

namespace cudal1::vgpu {
namespace {

constexpr const char* tile = ".shared .align 16 .b8 tile[4096];\n";
//! %rd6: where the thread's own word of the tile lies.
constexpr const char* own_word = "mul.wide.u32 %rd6, %r5, 4;\nmov.u64 %rd7, tile;\nadd.s64 %rd6, %rd7, %rd6;\n";

class BlockBarriers : public SmallKernel {};

TEST_F(BlockBarriers, PairsOfWarpsMeetAtBarriersOfTheirOwn) {
  // Barrier 1 + warp / 2, for 64 threads; each thread reads what the other warp of its pair wrote.
  load(std::string(own_word) +
           "shr.u32 %r6, %r5, 6;\nadd.s32 %r6, %r6, 1;\nst.shared.u32 [%rd6], %r1;\nbar.sync %r6, 64;\n"
           "xor.b32 %r7, %r5, 32;\nmul.wide.u32 %rd8, %r7, 4;\nadd.s64 %rd8, %rd7, %rd8;\nld.shared.u32 %r8, [%rd8];\n"
           "st.global.u32 [%rd2], %r8;\n",
       tile);
  run(1, 256);
  for (std::uint32_t i = 0; i < 256; ++i) EXPECT_EQ(y_[i], i ^ 32u);
}

TEST_F(BlockBarriers, ProducersArriveAndConsumersWait) {
  // Warp 1 writes and arrives, warp 0 waits and reads; run in the other order there would be nothing to read.
  load(std::string(own_word) +
           "setp.lt.u32 %p1, %r5, 32;\n@%p1 bra CONSUME;\nst.shared.u32 [%rd6], %r5;\nbar.arrive 3, 64;\nbra DONE;\n"
           "CONSUME:\nbar.sync 3, 64;\nld.shared.u32 %r6, [%rd6+128];\nst.global.u32 [%rd2], %r6;\nDONE:\n",
       tile);
  run(1, 64);
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(y_[i], i + 32);
}

TEST_F(BlockBarriers, BuffersGoBackAndForthBetweenProducersAndConsumers) {
  // Five rounds: barrier 1 says full, barrier 2 says empty.
  load(std::string(own_word) +
           "mov.u32 %r6, 0;\nmov.u32 %r9, 0;\nsetp.lt.u32 %p1, %r5, 32;\n@%p1 bra CONSUME;\nPRODUCE:\n"
           "bar.sync 2, 64;\nst.shared.u32 [%rd6], %r6;\nbar.arrive 1, 64;\nadd.s32 %r6, %r6, 1;\n"
           "setp.lt.u32 %p2, %r6, 5;\n@%p2 bra PRODUCE;\nbra DONE;\nCONSUME:\nbar.arrive 2, 64;\nbar.sync 1, 64;\n"
           "ld.shared.u32 %r8, [%rd6+128];\nmad.lo.s32 %r9, %r9, 10, %r8;\nadd.s32 %r6, %r6, 1;\n"
           "setp.lt.u32 %p2, %r6, 5;\n@%p2 bra CONSUME;\nst.global.u32 [%rd2], %r9;\nDONE:\n",
       tile);
  run(1, 64);
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(y_[i], 1234u);
}

TEST_F(BlockBarriers, VotesAreCountedOverTheBlock) {
  load(
      "setp.lt.u32 %p1, %r5, 70;\nbar.red.popc.u32 %r6, 0, %p1;\nbar.red.and.pred %p2, 0, %p1;\n"
      "bar.red.or.pred %p3, 0, !%p1;\nsetp.lt.u32 %p1, %r5, 1000;\nbar.red.and.pred %p4, 1, 96, %p1;\n"
      "bar.red.or.pred %p5, 1, 96, !%p1;\nselp.u32 %r7, 1000, 0, %p2;\nadd.s32 %r6, %r6, %r7;\n"
      "selp.u32 %r7, 2000, 0, %p3;\nadd.s32 %r6, %r6, %r7;\nselp.u32 %r7, 4000, 0, %p4;\nadd.s32 %r6, %r6, %r7;\n"
      "selp.u32 %r7, 8000, 0, %p5;\nadd.s32 %r6, %r6, %r7;\nst.global.u32 [%rd2], %r6;\n");
  run(1, 96);
  for (std::uint32_t i = 0; i < 96; ++i) EXPECT_EQ(y_[i], 70u + 2000u + 4000u);
}

TEST_F(BlockBarriers, AWarpThatIsNotFullCountsAsOne) {
  load("bar.sync 1, 64;\nst.global.u32 [%rd2], %r1;\n");
  run(1, 48);
  EXPECT_EQ(y_[47], 47u);
}

TEST_F(BlockBarriers, OpenWhenTheLastThatWereWaitedForEnd) {
  // Warp 1 ends after warp 0 has come to the barrier.
  load("setp.ge.u32 %p1, %r5, 32;\n@%p1 exit;\nbar.sync 0;\nst.global.u32 [%rd2], %r1;\n");
  run(1, 64);
  EXPECT_EQ(y_[31], 31u);
}

TEST_F(BlockBarriers, NameTheLineOfADeadlock) {
  load("setp.lt.u32 %p1, %r5, 32;\n.loc 1 12 1\n@%p1 bar.sync 1, 96;\n");
  EXPECT_EQ(fault_of(1, 64),
            "deadlock: 32 threads of the warp wait at barrier 1 for others that never come "
            "(line 12, block (0, 0, 0), thread (0, 0, 0))");
}

TEST_F(BlockBarriers, LanesOfAWarpThatComeFromDifferentPlaces) {
  load(
      "and.b32 %r6, %r5, 1;\nsetp.eq.u32 %p1, %r6, 1;\n@%p1 bra ODD;\n.loc 1 12 1\nbar.sync 2, 64;\nbra DONE;\nODD:\n"
      ".loc 1 15 1\nbar.sync 2, 64;\nDONE:\n");
  EXPECT_EQ(
      fault_of(3, 64),
      "divergent barrier: the thread comes to barrier 2 here, thread (0, 0, 0) of its warp at line 12: all threads "
      "of a warp must come to it in one place (line 15, block (0, 0, 0), thread (1, 0, 0))");
}

TEST_F(BlockBarriers, WarpsThatComeToBarrierZeroFromDifferentPlaces) {
  load(
      "setp.ge.u32 %p1, %r5, 64;\n@%p1 bra HIGH;\n.loc 1 12 1\nbar.sync 0;\nbra DONE;\nHIGH:\n.loc 1 15 1\n"
      "bar.sync 0;\nDONE:\n");
  EXPECT_EQ(
      fault_of(1, 128),
      "divergent barrier: the thread comes to barrier 0 here, thread (0, 0, 0) of its block at line 12: all threads "
      "must come to it in one place (line 15, block (0, 0, 0), thread (64, 0, 0))");
}

TEST_F(BlockBarriers, VotesAreBarriersToo) {
  load(
      "setp.ge.u32 %p1, %r5, 64;\n@%p1 bra HIGH;\nbar.red.popc.u32 %r6, 0, %p1;\nbra DONE;\nHIGH:\n"
      "bar.red.popc.u32 %r6, 0, %p1;\nDONE:\n");
  EXPECT_NE(fault_of(1, 128).find("divergent barrier"), std::string::npos) << fault_of(1, 128);
}

TEST_F(BlockBarriers, NamedOnesAndThoseThatAreNotAlignedMayBeReachedFromAnywhere) {
  for (const std::string barrier : {"bar.sync 3", "bar.sync 3, 128", "barrier.sync 0", "barrier.sync 3"}) {
    load("setp.ge.u32 %p1, %r5, 64;\n@%p1 bra HIGH;\n" + barrier + ";\nbra DONE;\nHIGH:\n" + barrier + ";\nDONE:\n");
    EXPECT_EQ(fault_of(1, 128), "no fault") << barrier;
  }
  load("setp.ge.u32 %p1, %r5, 16;\n@%p1 bra HIGH;\nbarrier.sync 0;\nbra DONE;\nHIGH:\nbarrier.sync 0;\nDONE:\n");
  EXPECT_EQ(fault_of(1, 32), "no fault");
}

TEST_F(BlockBarriers, WhatCannotBeIsAFault) {
  load("bar.sync 16;\n");
  EXPECT_NE(fault_of(1, 32).find("wrong barrier: there is no barrier 16"), std::string::npos);
  load("bar.sync 1, 40;\n");
  EXPECT_NE(fault_of(1, 64).find("wrong barrier: barrier 1 is to open for 40 threads"), std::string::npos);
  load("setp.lt.u32 %p1, %r5, 32;\nselp.u32 %r6, 64, 96, %p1;\nbar.sync 1, %r6;\n");
  EXPECT_NE(fault_of(1, 64).find("where others said 64"), std::string::npos);
  load("bar.arrive 1, 96;\nbar.arrive 1, 96;\n");
  EXPECT_NE(fault_of(1, 32).find("comes to barrier 1 again"), std::string::npos);
}

class WarpBarriers : public SmallKernel {};

TEST_F(WarpBarriers, LanesThatPartedWaitForEachOther) {
  // Odd lanes write behind a loop, even ones read behind the barrier, in code that comes before it.
  load(std::string(own_word) +
           "and.b32 %r6, %r5, 1;\nsetp.eq.u32 %p1, %r6, 1;\n@%p1 bra WRITE;\nbar.warp.sync -1;\n"
           "ld.shared.u32 %r7, [%rd6+4];\nst.global.u32 [%rd2], %r7;\nbra DONE;\nWRITE:\nmov.u32 %r8, 0;\nLOOP:\n"
           "add.s32 %r8, %r8, 1;\nsetp.lt.u32 %p2, %r8, 50;\n@%p2 bra LOOP;\nst.shared.u32 [%rd6], %r1;\n"
           "bar.warp.sync -1;\nDONE:\n",
       tile);
  run(1, 32);
  for (std::uint32_t i = 0; i < 32; i += 2) EXPECT_EQ(y_[i], i + 1);
}

TEST_F(WarpBarriers, AShuffleWaitsForTheLanesThatItNames) {
  // Lanes come to the shuffle after as many rounds as their number; the smallest program counter alone would do, were
  // it not that the shuffle comes before the loop's end.
  load(
      "mov.u32 %r6, 0;\nmov.u32 %r10, 0;\nbra HEAD;\nMEET:\nshfl.sync.bfly.b32 %r7, %r5, 1, 31, -1;\n"
      "st.global.u32 [%rd2], %r7;\nbra DONE;\nHEAD:\nsetp.ge.u32 %p1, %r6, %r5;\n@%p1 bra MEET;\n"
      "add.s32 %r6, %r6, 1;\nbra HEAD;\nDONE:\n");
  run(1, 32);
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(y_[i], i ^ 1u);
}

TEST_F(WarpBarriers, HalvesWithMasksOfTheirOwnShuffleApart) {
  load(
      "setp.lt.u32 %p1, %r5, 16;\nselp.b32 %r6, 65535, -65536, %p1;\nshfl.sync.bfly.b32 %r7, %r5, 1, 4127, %r6;\n"
      "vote.sync.ballot.b32 %r8, %p1, %r6;\nadd.s32 %r7, %r7, %r8;\nst.global.u32 [%rd2], %r7;\n");
  run(1, 32);
  EXPECT_EQ(y_[3], 2u + 65535u);
  EXPECT_EQ(y_[20], 21u);
}

TEST_F(WarpBarriers, LanesThatHaveEndedAreNotWaitedFor) {
  load(
      "setp.ge.u32 %p1, %r5, 8;\n@%p1 exit;\nsetp.ge.u32 %p2, %r5, 0;\nvote.sync.ballot.b32 %r6, %p2, -1;\n"
      "st.global.u32 [%rd2], %r6;\n");
  run(1, 32);
  EXPECT_EQ(y_[0], 255u);
}

TEST_F(WarpBarriers, NameWhoNeverComes) {
  // Lane 3 waits at a barrier of the block that the others would come to after the shuffle.
  load(
      "setp.eq.u32 %p1, %r5, 3;\n@%p1 bra OTHER;\n.loc 1 7 1\nshfl.sync.bfly.b32 %r7, %r5, 1, 31, -1;\nOTHER:\n"
      "bar.sync 0;\n");
  EXPECT_EQ(fault_of(1, 32),
            "deadlock: 31 lanes wait for lane 3 of their warp, which never comes "
            "(line 7, block (0, 0, 0), thread (0, 0, 0))");
  load("@%p1 bra OTHER;\nshfl.sync.bfly.b32 %r7, %r5, 1, 31, 1;\nOTHER:\n");
  EXPECT_NE(fault_of(1, 32).find("inactive lane: a lane that the member mask does not name"), std::string::npos);
}

TEST_F(WarpBarriers, NameWhoReadsALaneThatTakesNoPart) {
  // Lanes 0 to 15 read the one that lies eight higher, which lanes 8 and up do not find.
  load("setp.ge.u32 %p1, %r5, 16;\n@%p1 bra OTHER;\n.loc 1 7 1\nshfl.sync.down.b32 %r7, %r5, 8, 31, 65535;\nOTHER:\n");
  EXPECT_EQ(fault_of(1, 32),
            "inactive lane: a shuffle reads lane 16, which takes no part (line 7, block (0, 0, 0), thread (8, 0, 0))");
}

class Spinning : public SmallKernel {};

constexpr const char* lock_and_count =
    "LOCK:\natom.global.cas.b32 %r6, [%rd4], 0, 1;\nsetp.ne.u32 %p1, %r6, 0;\n@%p1 bra LOCK;\n"
    "ld.global.u32 %r7, [%rd4+4];\nadd.s32 %r7, %r7, 1;\nst.global.u32 [%rd4+4], %r7;\n"
    "atom.global.exch.b32 %r6, [%rd4], 0;\n";

TEST_F(Spinning, ALockWithinAWarpDoesNotHang) {
  load(lock_and_count);
  run(3, 96);
  EXPECT_EQ(y_[0], 0u);
  EXPECT_EQ(y_[1], 288u);
}

TEST_F(Spinning, BlocksMeetAtACounter) {
  // Each block adds one and waits until all have; then it reads what the block after it wrote before.
  launch_.resident_blocks = 0;
  load(
      "setp.ne.u32 %p1, %r5, 0;\nmul.wide.u32 %rd6, %r3, 4;\nadd.s64 %rd6, %rd4, %rd6;\nadd.s32 %r8, %r3, 100;\n"
      "@!%p1 st.global.u32 [%rd6+400], %r8;\n@%p1 bra MET;\natom.global.add.u32 %r6, [%rd4], 1;\nWAIT:\n"
      "ld.volatile.global.u32 %r7, [%rd4];\nsetp.lt.u32 %p2, %r7, %r2;\n@%p2 bra WAIT;\nMET:\nbar.sync 0;\n"
      "@%p1 exit;\nld.global.u32 %r9, [%rd6+404];\nst.global.u32 [%rd6+800], %r9;\n");
  run(40, 64, 40);
  for (std::uint32_t block = 0; block < 39; ++block) EXPECT_EQ(y_[200 + block], 101 + block);
}

TEST_F(Spinning, TheBudgetIsTheLaunchs) {
  load("mov.u32 %r6, 0;\nLOOP:\nadd.s32 %r6, %r6, 1;\nsetp.lt.u32 %p1, %r6, 100;\n@%p1 bra LOOP;\n");
  launch_.most_instructions = 2000;  // a block takes 312
  EXPECT_EQ(run(6, 32).warp_instructions(), 6u * 312u);
  EXPECT_NE(fault_of(7, 32).find("too many instructions: the launch takes more than 2000 warp instructions"),
            std::string::npos);
}

}  // namespace
}  // namespace cudal1::vgpu
