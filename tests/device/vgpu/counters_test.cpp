// What a launch is counted to have done, on numbers worked by hand.
#include "small_kernel.hpp"

namespace cudal1::vgpu {
namespace {

constexpr const char* tile = ".shared .align 16 .b8 tile[16384];\n";

class Counters : public SmallKernel {
 protected:
  //! An access to shared memory by each lane at %r5 times so many bytes: passes of one warp.
  std::uint64_t passes(const std::string& instruction, int stride) {
    load("mul.wide.u32 %rd6, %r5, " + std::to_string(stride) + ";\nmov.u64 %rd7, tile;\nadd.s64 %rd6, %rd7, %rd6;\n" +
             instruction,
         tile);
    const KernelCounters counters = run(1, 32);
    EXPECT_EQ(counters.shared_requests, 1u);
    return counters.shared_passes;
  }

  //! A load from x at %r5 times so many bytes, plus an offset.
  Traffic load_from_x(int stride, int offset, const std::string& type = "u32 %r6", const std::string& guard = "") {
    load("mul.wide.u32 %rd6, %r5, " + std::to_string(stride) + ";\nadd.s64 %rd6, %rd3, %rd6;\n" +
         "setp.lt.u32 %p1, %r5, 8;\n" + guard + "ld.global." + type + ", [%rd6+" + std::to_string(offset) + "];\n");
    return run(1, 32).global_loads;
  }
};

TEST_F(Counters, SectorsOfCoalescedStridedAndBroadcastLoads) {
  const Traffic coalesced = load_from_x(4, 0);
  EXPECT_EQ(coalesced.requests, 1u);
  EXPECT_EQ(coalesced.sectors, 4u);
  EXPECT_EQ(coalesced.bytes_wanted, 128u);
  EXPECT_EQ(load_from_x(4, 16).sectors, 5u);  // across a border
  EXPECT_EQ(load_from_x(8, 0).sectors, 8u);
  EXPECT_EQ(load_from_x(32, 0).sectors, 32u);
  EXPECT_EQ(load_from_x(128, 0).sectors, 32u);
  EXPECT_EQ(load_from_x(0, 64).sectors, 1u);
  EXPECT_EQ(load_from_x(16, 0, "v4.u32 {%r6, %r7, %r8, %r9}").sectors, 16u);
  const Traffic some = load_from_x(4, 0, "u32 %r6", "@%p1 ");
  EXPECT_EQ(some.sectors, 1u);
  EXPECT_EQ(some.bytes_wanted, 32u);
}

TEST_F(Counters, PassesOverTheBanks) {
  const std::string word = "ld.shared.u32 %r6, [%rd6];\n", two = "ld.shared.v2.u32 {%r6, %r7}, [%rd6];\n",
                    four = "ld.shared.v4.u32 {%r6, %r7, %r8, %r9}, [%rd6];\n";
  EXPECT_EQ(passes(word, 4), 1u);
  EXPECT_EQ(passes(word, 0), 1u);  // one word for all
  EXPECT_EQ(passes(word, 8), 2u);
  EXPECT_EQ(passes(word, 64), 16u);
  EXPECT_EQ(passes(word, 128), 32u);
  EXPECT_EQ(passes(word, 132), 1u);  // padding
  EXPECT_EQ(passes(two, 8), 2u);
  EXPECT_EQ(passes(two, 16), 4u);
  EXPECT_EQ(passes(four, 16), 4u);
  EXPECT_EQ(passes(four, 128), 32u);
  EXPECT_EQ(passes("st.shared.u32 [%rd6], %r5;\n", 8), 2u);
  EXPECT_EQ(passes("st.shared.u8 [%rd6], %r5;\n", 1), 1u);
}

TEST_F(Counters, DistinctBytesAreThoseOfAllBlocksTogether) {
  // Every block reads the same 256 words; each writes 64 of its own.
  load(
      "mul.wide.u32 %rd6, %r5, 16;\nadd.s64 %rd6, %rd3, %rd6;\nld.global.v4.u32 {%r6, %r7, %r8, %r9}, [%rd6];\n"
      "st.global.u32 [%rd2], %r6;\nred.global.add.u32 [%rd4+8192], 1;\n");
  const KernelCounters counters = run(4, 64);
  EXPECT_EQ(counters.distinct_bytes_read, 1024u + 32u);  // the atomic reads its sector too
  EXPECT_EQ(counters.distinct_bytes_written, 4u * 256u + 32u);
  EXPECT_EQ(counters.global_atomics.requests, 8u);
  EXPECT_EQ(counters.global_atomics.sectors, 8u);
}

TEST_F(Counters, ScatteredLoadsPassOverTheBanksOfTheCache) {
  EXPECT_EQ(load_from_x(4, 0).passes, 1u);
  EXPECT_EQ(load_from_x(0, 0).passes, 1u);
  EXPECT_EQ(load_from_x(132, 0).passes, 1u);  // 32 lines, all at other banks
  EXPECT_EQ(load_from_x(128, 0).passes, 32u);
  EXPECT_EQ(load_from_x(16, 0, "v4.u32 {%r6, %r7, %r8, %r9}").passes, 4u);
}

TEST_F(Counters, LanesThatShareAnAddressTakeWideWordsInFewerPasses) {
  const std::string four = "ld.shared.v4.u32 {%r6, %r7, %r8, %r9}, [%rd6];\n";
  EXPECT_EQ(passes(four, 0), 2u);
  EXPECT_EQ(passes("shr.u32 %r10, %r5, 1;\nmul.wide.u32 %rd6, %r10, 16;\nadd.s64 %rd6, %rd7, %rd6;\n" + four, 0), 2u);
}

TEST_F(Counters, LanesWithTheirOwnAddressOfConstantMemoryAreCounted) {
  const auto constant_passes = [&](int stride) {
    const std::string table = ".const .align 4 .b8 table[4096];\n";
    module_ = ptx::parse(".version 7.0\n.target sm_80\n.address_size 64\n" + table +
                         ".entry k(.param .u64 x, .param .u64 y, .param .u32 n)\n{\n.reg .b32 %r<8>;\n.reg .b64 "
                         "%rd<8>;\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd1, %r1, " +
                         std::to_string(stride) + ";\nmov.u64 %rd2, table;\nadd.s64 %rd1, %rd1, %rd2;\n" +
                         "ld.const.u32 %r2, [%rd1];\nret;\n}\n");
    kernel_ = decode(module_, *module_.find("k"), {{"table", x_address}});
    launch_.kernel = &kernel_;
    launch_.most_instructions = 1000;
    return run(1, 32).constant_passes;
  };
  EXPECT_EQ(constant_passes(0), 0u);  // an operand
  EXPECT_EQ(constant_passes(4), 32u);
}

TEST_F(Counters, LanesMeetAgainHoweverTheCompilerLaidOutTheLoop) {
  // The end of the loop lies above its middle; every other lane skips an addition in each turn.
  load(
      "mov.u32 %r6, 0;\nand.b32 %r7, %r5, 1;\nsetp.eq.u32 %p2, %r7, 0;\nbra.uni MIDDLE;\n"
      "END:\nadd.s32 %r6, %r6, 1;\nsetp.lt.u32 %p1, %r6, 10;\n@%p1 bra MIDDLE;\nbra.uni OUT;\n"
      "MIDDLE:\n@%p2 bra END;\nadd.s32 %r8, %r8, 1;\nbra.uni END;\nOUT:\nst.global.u32 [%rd2], %r8;\n");
  const KernelCounters counters = run(1, 32);
  EXPECT_EQ(counters.global_stores.requests, 1u);
  EXPECT_EQ(counters.divergent_branches, 10u);
}

TEST_F(Counters, LinesOfARequestAreCountedOnce) {
  EXPECT_EQ(load_from_x(4, 0).lines, 1u);
  EXPECT_EQ(load_from_x(4, 64).lines, 2u);
  EXPECT_EQ(load_from_x(32, 0).lines, 8u);
  EXPECT_EQ(load_from_x(128, 0).lines, 32u);
  EXPECT_EQ(load_from_x(64, 0).lines, 16u);
}

TEST_F(Counters, WhatABlockReadsAgainIsTold) {
  // Each of two warps reads the same 128 bytes twice.
  const std::string twice =
      "and.b32 %r6, %r5, 31;\nmul.wide.u32 %rd6, %r6, 4;\nadd.s64 %rd6, %rd3, %rd6;\n"
      "ld.global.u32 %r7, [%rd6];\nld.global.u32 %r8, [%rd6];\n";
  load(twice);
  const KernelCounters counters = run(2, 64);
  EXPECT_EQ(counters.global_loads.sectors, 2u * 2u * 2u * 4u);
  EXPECT_EQ(counters.block_bytes_read, 2u * 128u);
  EXPECT_EQ(counters.bytes_read_again, 2u * 3u * 128u);
}

TEST_F(Counters, DramGivesPairsOfSectors) {
  load("mul.wide.u32 %rd6, %r5, 64;\nadd.s64 %rd6, %rd3, %rd6;\nld.global.u32 %r6, [%rd6];\n");
  const KernelCounters apart = run(1, 32);
  EXPECT_EQ(apart.distinct_bytes_read, 32u * 32u);
  EXPECT_EQ(apart.distinct_bytes_fetched, 32u * 64u);
  load("mul.wide.u32 %rd6, %r5, 4;\nadd.s64 %rd6, %rd3, %rd6;\nld.global.u32 %r6, [%rd6];\n");
  EXPECT_EQ(run(1, 32).distinct_bytes_fetched, 128u);
}

TEST_F(Counters, AtomicsOnOnePlaceQueue) {
  load("red.global.add.u32 [%rd4+8192], 1;\n");
  EXPECT_EQ(run(2, 64).busiest_atomics, 128u);  // every lane after the other
  load("mul.wide.u32 %rd6, %r5, 4;\nadd.s64 %rd6, %rd4, %rd6;\nred.global.add.u32 [%rd6], 1;\n");
  EXPECT_EQ(run(1, 32).busiest_atomics, 4u);  // a sector at a time
}

TEST_F(Counters, MachineInstructionsAreWhatTheAssemblerMakes) {
  const auto of = [&](const std::string& body, Pipe pipe) {
    load("");
    const KernelCounters before = run(1, 32);
    load(body);
    const auto i = static_cast<std::size_t>(pipe);
    return static_cast<std::int64_t>(run(1, 32).machine_instructions[i] - before.machine_instructions[i]);
  };
  EXPECT_EQ(of("mov.u32 %r6, %r5;\nmov.u32 %r7, %r6;\n", Pipe::integer), 0);
  EXPECT_EQ(of("add.s32 %r6, %r5, 1;\n", Pipe::either), 1);
  EXPECT_EQ(of("mul.lo.s32 %r6, %r5, %r4;\n", Pipe::multiply), 1);
  EXPECT_EQ(of("max.f32 %f1, %f2, %f3;\n", Pipe::integer), 1);
  EXPECT_EQ(of("and.b64 %rd6, %rd3, %rd4;\n", Pipe::integer), 2);
  EXPECT_GT(of("rem.u32 %r6, %r5, 7;\n", Pipe::integer), 5);
  EXPECT_EQ(of("div.rn.f32 %f1, %f2, %f3;\n", Pipe::special), 2);
  EXPECT_GT(of("div.rn.f32 %f1, %f2, %f3;\n", Pipe::single), 4);
}

TEST_F(Counters, LocalMemoryLiesLaneByLane) {
  load(
      ".local .align 8 .b8 depot[64];\nmov.u64 %rd6, depot;\nst.local.u32 [%rd6], %r5;\nst.local.u64 [%rd6+8], "
      "%rd5;\n");
  const KernelCounters counters = run(1, 32);
  EXPECT_EQ(counters.local_accesses.requests, 2u);
  EXPECT_EQ(counters.local_accesses.sectors, 4u + 8u);
  EXPECT_EQ(counters.local_accesses.bytes_wanted, 32u * 12u);
}

TEST_F(Counters, InstructionsByPipeAndLanes) {
  const auto before = [&] {
    load("");
    return run(2, 64);
  }();
  load(
      "add.f32 %f1, %f2, %f3;\nadd.f32 %f1, %f2, %f3;\nadd.s32 %r6, %r5, 1;\nex2.approx.f32 %f4, %f1;\n"
      "cvt.rn.f32.s32 %f5, %r6;\nsetp.lt.u32 %p1, %r5, 4;\n@%p1 add.s32 %r6, %r5, 1;\nbar.sync 0;\n");
  const KernelCounters counters = run(2, 64);
  const auto more = [&](Pipe pipe) {
    const auto i = static_cast<std::size_t>(pipe);
    return counters.instructions[i] - before.instructions[i];
  };
  EXPECT_EQ(more(Pipe::single), 4u * 2u);
  EXPECT_EQ(more(Pipe::integer), 4u * 3u);
  EXPECT_EQ(more(Pipe::special), 4u);
  EXPECT_EQ(more(Pipe::conversion), 4u);
  EXPECT_EQ(more(Pipe::control), 4u);
  EXPECT_EQ(counters.lanes - before.lanes, 4u * 7u * 32u + 2u * 4u);  // the guard leaves four lanes of each block
  EXPECT_EQ(counters.barriers, 4u);
  EXPECT_EQ(counters.blocks, 2u);
  EXPECT_EQ(counters.grid_blocks, 2u);
}

TEST_F(Counters, BranchesAndWhereLanesPart) {
  load(
      "mov.u32 %r6, 0;\nLOOP:\nadd.s32 %r6, %r6, 1;\nsetp.lt.u32 %p1, %r6, 10;\n@%p1 bra LOOP;\n"
      "setp.lt.u32 %p2, %r5, 7;\n@%p2 bra SKIP;\nadd.s32 %r6, %r6, 1;\nSKIP:\nadd.s32 %r6, %r6, 1;\n");
  const KernelCounters counters = run(1, 32);
  EXPECT_EQ(counters.branches, 11u);
  EXPECT_EQ(counters.divergent_branches, 1u);
}

TEST_F(Counters, ASampleHasTheFirstAndTheLastBlock) {
  load("add.s32 %r6, %r3, 1;\nst.global.u32 [%rd2], %r6;\n");
  launch_.sample = 10;
  launch_.sample_seed = 7;
  const KernelCounters counters = run(64, 32);
  EXPECT_EQ(counters.blocks, 10u);
  EXPECT_EQ(counters.grid_blocks, 64u);
  EXPECT_EQ(counters.global_stores.requests, 10u);
  EXPECT_EQ(y_[0], 1u);
  EXPECT_EQ(y_[63 * 32], 64u);
  std::uint64_t written = 0;
  for (std::size_t block = 0; block < 64; ++block) written += y_[block * 32] != 0;
  EXPECT_EQ(written, 10u);
}

TEST_F(Counters, CanBeSwitchedOff) {
  load("st.global.u32 [%rd2], %r1;\n");
  launch_.counting = false;
  EXPECT_EQ(run(2, 32).warp_instructions(), 0u);
  EXPECT_EQ(y_[63], 63u);
}

class Threads : public SmallKernel {};

TEST_F(Threads, NeitherResultsNorCountsDependOnThem) {
  std::iota(x_.begin(), x_.end(), 5);
  load(
      "ld.global.u32 %r6, [%rd1];\nmov.u32 %r7, 0;\nLOOP:\nmad.lo.s32 %r6, %r6, 1664525, 1013904223;\n"
      "add.s32 %r7, %r7, 1;\nsetp.lt.u32 %p1, %r7, %r5;\n@%p1 bra LOOP;\nst.global.u32 [%rd2], %r6;\n");
  launch_.threads = 1;
  const KernelCounters alone = run(64, 64);
  const auto expected = std::exchange(y_, std::vector<std::uint32_t>(4096));
  launch_.threads = 2;
  const KernelCounters both = run(64, 64);
  EXPECT_EQ(y_, expected);
  EXPECT_EQ(both.instructions, alone.instructions);
  EXPECT_EQ(both.lanes, alone.lanes);
  EXPECT_EQ(both.divergent_branches, alone.divergent_branches);
  EXPECT_EQ(both.global_loads.sectors, alone.global_loads.sectors);
  EXPECT_EQ(both.distinct_bytes_read, alone.distinct_bytes_read);
  EXPECT_EQ(both.distinct_bytes_written, alone.distinct_bytes_written);
}

TEST_F(Threads, FloatingPointAtomicsAddInTheOrderOfTheBlocks) {
  load("cvt.rn.f32.u32 %f1, %r1;\nmul.f32 %f1, %f1, 0f3DCCCCCD;\nred.global.add.f32 [%rd4], %f1;\n");
  float sum = 0.0f;
  for (int i = 0; i < 64 * 64; ++i) sum += static_cast<float>(i) * 0.1f;
  for (const std::uint32_t threads : {1u, 2u}) {
    y_[0] = 0;
    launch_.threads = threads;
    run(64, 64);
    EXPECT_EQ(std::bit_cast<float>(y_[0]), sum);
  }
}

TEST_F(Threads, TheFaultOfTheFirstBlockIsReported) {
  load(
      "setp.lt.u32 %p1, %r3, 9;\n@%p1 bra FINE;\nst.global.u32 [%rd1], %r1;\nFINE:\nmov.u32 %r6, 0;\nLOOP:\n"
      "add.s32 %r6, %r6, 1;\nsetp.lt.u32 %p1, %r6, 1000;\n@%p1 bra LOOP;\n");
  for (const std::uint32_t threads : {1u, 2u, 4u}) {
    launch_.threads = threads;
    EXPECT_NE(fault_of(64, 32).find("block (9, 0, 0)"), std::string::npos);
  }
}

//! Writes down what it is told.
class Listener : public AccessObserver {
 public:
  explicit Listener(std::vector<std::string>& heard) : heard_(heard) {}
  void shared(const WarpAccess& access) override { note("shared", access); }
  void global(const WarpAccess& access) override { note("global", access); }
  void local(const WarpAccess& access) override { note("local", access); }
  void block_barrier(std::span<const Mask> lanes) override {
    heard_.push_back("barrier of " + std::to_string(lanes.size()));
  }
  void warp_barrier(std::uint32_t warp, Mask) override { heard_.push_back("warp barrier " + std::to_string(warp)); }
  void end() override { heard_.push_back("end"); }

 private:
  void note(const std::string& memory, const WarpAccess& access) {
    heard_.push_back(memory + (access.kind == AccessKind::read ? " read" : " write") + " of " +
                     std::to_string(access.bytes) + " at " +
                     std::to_string((*access.addresses)[static_cast<std::size_t>(std::countr_zero(access.mask))]) +
                     " by warp " + std::to_string(access.warp));
  }
  std::vector<std::string>& heard_;
};

class Observer : public SmallKernel {};

TEST_F(Observer, HearsOfEveryAccessAndBarrier) {
  std::vector<std::string> heard;
  load(
      "mul.wide.u32 %rd6, %r5, 4;\nmov.u64 %rd7, tile;\nadd.s64 %rd6, %rd7, %rd6;\nst.shared.u32 [%rd6], %r5;\n"
      "bar.sync 0;\ncvta.shared.u64 %rd8, %rd6;\nld.u32 %r6, [%rd8];\nbar.warp.sync -1;\nshfl.sync.bfly.b32 %r7, %r6, "
      "1, 31, -1;\n"
      "st.global.u32 [%rd2], %r7;\n",
      tile);
  launch_.observers = [&](Index3) { return std::make_unique<Listener>(heard); };
  run(1, 64);
  const std::string y = std::to_string(y_address), y_of_warp_1 = std::to_string(y_address + 128);
  const std::vector<std::string> expected{
      "shared write of 4 at 0 by warp 0",
      "shared write of 4 at 128 by warp 1",
      "barrier of 2",
      "shared read of 4 at 128 by warp 1",
      "warp barrier 1",
      "global write of 4 at " + y_of_warp_1 + " by warp 1",
      "shared read of 4 at 0 by warp 0",
      "warp barrier 0",
      "global write of 4 at " + y + " by warp 0",
      "end",
  };
  EXPECT_EQ(heard, expected);
}

}  // namespace
}  // namespace cudal1::vgpu
