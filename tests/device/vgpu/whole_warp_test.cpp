// Warps whose lanes all go together have a loop of their own. A warp that lacks a lane has not: both must do the same.
#include <algorithm>
#include <bit>
#include <limits>

#include "small_kernel.hpp"

namespace cudal1::vgpu {
namespace {

constexpr const char* tile = ".shared .align 16 .b8 tile[4096];\n";

class WholeWarp : public SmallKernel {
 protected:
  WholeWarp() {
    for (std::uint32_t i = 0; i < x_.size(); ++i) x_[i] = i * 2654435761u;
  }
  //! Of lanes 0 to 30.
  std::vector<std::uint32_t> results_of(std::uint32_t threads) {
    std::ranges::fill(y_, 0);
    counters_ = run(1, threads, 5);
    return {y_.begin(), y_.begin() + 31};
  }
  //! The body leaves its result in %r31.
  void compare(const std::string& body) {
    load(body + "st.global.u32 [%rd2], %r31;\n", tile);
    const auto whole = results_of(32);
    const KernelCounters counted = counters_;
    EXPECT_EQ(whole, results_of(31)) << body;
    EXPECT_EQ(counted.warp_instructions(), counters_.warp_instructions()) << body;
    EXPECT_EQ(counted.shared_requests, counters_.shared_requests) << body;
    EXPECT_EQ(counted.global_loads.requests, counters_.global_loads.requests) << body;
  }
  auto steps_done(Quick how) const {
    return std::ranges::count_if(kernel_.steps, [how](const Step& step) { return step.quick == how; });
  }
  KernelCounters counters_;
};

//! The tile holds x, 16 bytes a lane.
const std::string fill_tile =
    "mul.wide.u32 %rd6, %r5, 16;\nadd.s64 %rd7, %rd3, %rd6;\nmov.u64 %rd8, tile;\nadd.s64 %rd9, %rd8, %rd6;\n"
    "ld.global.v4.u32 {%r6, %r7, %r8, %r9}, [%rd7];\nst.shared.v4.u32 [%rd9], {%r6, %r7, %r8, %r9};\nbar.sync 0;\n";

TEST_F(WholeWarp, ArithmeticIsTheSameForNumbersInfinitiesAndNans) {
  const std::vector<float> special{0.0f,
                                   -0.0f,
                                   std::numeric_limits<float>::infinity(),
                                   -std::numeric_limits<float>::infinity(),
                                   std::bit_cast<float>(0x7fc12345u),
                                   std::bit_cast<float>(0xff812345u),
                                   1.5f,
                                   0x1p-140f};
  for (std::size_t i = 0; i < 64; ++i) x_[i] = std::bit_cast<std::uint32_t>(special[(i * 5 + i / 8) % special.size()]);
  const std::string operands =
      "ld.global.f32 %f1, [%rd1];\nld.global.f32 %f2, [%rd1+64];\nld.global.f32 %f3, [%rd1+96];\n";
  for (const std::string operation : {"fma.rn.f32 %f4, %f1, %f2, %f3", "add.rn.f32 %f4, %f1, %f2",
                                      "mul.rn.f32 %f4, %f1, %f2", "add.f32 %f4, %f1, %f3", "mov.f32 %f4, %f2"})
    compare(operands + operation + ";\nmov.b32 %r31, %f4;\n");
  compare("ld.global.u32 %r6, [%rd1];\nadd.s32 %r7, %r6, %r5;\nmov.u32 %r31, %r7;\n");
  compare(
      "ld.global.u32 %r6, [%rd1];\nmul.wide.u32 %rd6, %r6, 9;\nadd.u64 %rd7, %rd6, %rd1;\nmov.b64 %rd8, %rd7;\n"
      "shr.u64 %rd8, %rd8, 16;\ncvt.u32.u64 %r31, %rd8;\n");
}

TEST_F(WholeWarp, ANanIsTheDevices) {
  x_[4] = 0x7f812345u;  // one that signals, in one lane
  load("ld.global.f32 %f1, [%rd1];\nmov.f32 %f2, 0f00000000;\nadd.rn.f32 %f3, %f1, %f2;\nst.global.f32 [%rd2], %f3;\n");
  run(1, 32);
  EXPECT_EQ(y_[4], 0x7fffffffu);
}

TEST_F(WholeWarp, LoadsFromSharedMemoryInEveryShape) {
  const std::vector<std::string> places{"mov.u32 %r10, 7;\n",       // all one
                                        "mov.u32 %r10, %r5;\n",     // side by side
                                        "shr.u32 %r10, %r5, 3;\n",  // one by eights
                                        "and.b32 %r10, %r5, 7;\n",  // side by side by eights
                                        "mul.lo.u32 %r10, %r5, 3;\n", "sub.u32 %r10, 31, %r5;\n",
                                        "and.b32 %r10, %r5, 3;\n"};  // otherwise
  for (const std::string& place : places) {
    // Twice, since the second time it is known, and beyond what is known the third time.
    std::string words = fill_tile + place + "mul.wide.u32 %rd10, %r10, 4;\nadd.s64 %rd10, %rd8, %rd10;\n";
    compare(words +
            "ld.shared.u32 %r11, [%rd10];\nld.shared.u32 %r12, [%rd10+4];\nld.shared.u32 %r13, [%rd10+64];\n"
            "add.u32 %r31, %r11, %r12;\nadd.u32 %r31, %r31, %r13;\n");
    std::string vectors =
        fill_tile + place + "and.b32 %r10, %r10, 15;\nmul.wide.u32 %rd10, %r10, 16;\nadd.s64 %rd10, %rd8, %rd10;\n";
    const auto sum = [](const std::string& offset) {
      return "ld.shared.v4.u32 {%r11, %r12, %r13, %r14}, [%rd10" + offset +
             "];\nmad.lo.u32 %r31, %r11, 3, %r31;\nmad.lo.u32 %r31, %r12, 5, %r31;\nmad.lo.u32 %r31, %r13, 7, %r31;\n"
             "mad.lo.u32 %r31, %r14, 11, %r31;\n";
    };
    compare(vectors + "mov.u32 %r31, 0;\n" + sum("") + sum("+16") + sum("+128"));
  }
}

TEST_F(WholeWarp, LoopsAndBranches) {
  compare(
      "mov.u32 %r6, 0;\nmov.u32 %r31, 1;\nROUND:\nmad.lo.u32 %r31, %r31, 3, %r5;\nadd.u32 %r6, %r6, 1;\n"
      "setp.lt.u32 %p1, %r6, 9;\n@%p1 bra ROUND;\nsetp.gt.u32 %p2, %r6, %r2;\n@!%p2 bra BEHIND;\n"
      "add.u32 %r31, %r31, 1000;\nBEHIND:\nsetp.lt.u32 %p3, %r5, 9;\n@%p3 add.u32 %r31, %r31, 5;\n");
}

TEST_F(WholeWarp, AccessesOutOfBoundsAndMisalignedAreFoundBehindOnesThatAreNot) {
  const std::string again = fill_tile + "ld.shared.u32 %r11, [%rd9];\nld.shared.u32 %r12, [%rd9+4];\n";
  load(again + "ld.shared.u32 %r13, [%rd9+4000];\n", tile);
  EXPECT_NE(fault_of(1, 32).find("byte 4096 of shared memory"), std::string::npos) << fault_of(1, 32);
  load(again + "ld.shared.u32 %r13, [%rd9+2];\n", tile);
  EXPECT_NE(fault_of(1, 32).find("misaligned: an access of 4 bytes at byte 2 of shared memory"), std::string::npos)
      << fault_of(1, 32);
}

TEST_F(WholeWarp, ComparisonsOfIntegers) {
  const std::vector<std::uint32_t> special{0, 1, 0x7fffffffu, 0x80000000u, 0x80000001u, 0xffffffffu, 5};
  for (std::size_t i = 0; i < 64; ++i) x_[i] = special[(i * 5 + i / 7) % special.size()];
  for (const std::string comparison :
       {"eq.s32", "ne.s32", "lt.s32", "le.s32", "gt.s32", "ge.s32", "eq.u32", "ne.u32", "lt.u32", "le.u32", "gt.u32",
        "ge.u32", "eq.b32", "ne.b32", "lo.u32", "ls.u32", "hi.u32", "hs.u32"}) {
    compare("ld.global.u32 %r6, [%rd1];\nld.global.u32 %r7, [%rd1+64];\nsetp." + comparison +
            " %p1, %r6, %r7;\nselp.u32 %r31, 1, 2, %p1;\n");
    EXPECT_EQ(steps_done(Quick::compare32), 1) << comparison;
  }
  compare("ld.global.u32 %r6, [%rd1];\nsetp.lt.s32 %p1|%p2, %r6, 5;\nselp.u32 %r31, 1, 2, %p2;\n");
  EXPECT_EQ(steps_done(Quick::compare32), 0);  // two results
}

TEST_F(WholeWarp, ProductsOfTwiceTheWidth) {
  for (const std::string type : {"u32", "s32"})
    compare("ld.global.u32 %r6, [%rd1];\nld.global.u32 %r7, [%rd1+64];\nmul.wide." + type +
            " %rd6, %r6, %r7;\nshr.u64 %rd7, %rd6, 32;\nxor.b64 %rd6, %rd6, %rd7;\ncvt.u32.u64 %r31, %rd6;\n");
  EXPECT_EQ(steps_done(Quick::multiply_wide_signed), 1);
}

TEST_F(WholeWarp, WarpsMeetAtBarriersInALoop) {
  load(  // each thread adds what the one 32 further on has, five times
      "mul.wide.u32 %rd6, %r5, 4;\nmov.u64 %rd8, tile;\nadd.s64 %rd9, %rd8, %rd6;\nmov.u32 %r31, %r5;\n"
      "mov.u32 %r6, 0;\nadd.u32 %r7, %r5, 32;\nrem.u32 %r7, %r7, 96;\nmul.wide.u32 %rd7, %r7, 4;\n"
      "add.s64 %rd10, %rd8, %rd7;\nROUND:\nst.shared.u32 [%rd9], %r31;\nbar.sync 0;\nld.shared.u32 %r8, [%rd10];\n"
      "add.u32 %r31, %r31, %r8;\nbar.sync 1;\nadd.u32 %r6, %r6, 1;\nsetp.lt.u32 %p1, %r6, 5;\n@%p1 bra ROUND;\n"
      "st.global.u32 [%rd2], %r31;\n",
      tile);
  EXPECT_EQ(steps_done(Quick::barrier), 2);
  counters_ = run(2, 96);
  std::vector<std::uint32_t> sums(96);
  std::iota(sums.begin(), sums.end(), 0u);
  for (int round = 0; round < 5; ++round) {
    const std::vector<std::uint32_t> before = sums;
    for (std::size_t i = 0; i < 96; ++i) sums[i] += before[(i + 32) % 96];
  }
  for (std::size_t i = 0; i < 192; ++i) EXPECT_EQ(y_[i], sums[i % 96]) << i;
  EXPECT_EQ(counters_.barriers, 2u * 3 * 10);
  EXPECT_EQ(counters_.warp_instructions(), 2u * 3 * (10 + 9 + 5 * 8 + 2));
}

TEST_F(WholeWarp, AWarpThatNeverComesToABarrierIsMissed) {
  load("setp.lt.u32 %p1, %r5, 32;\n@%p1 bra BEHIND;\nbar.sync 0;\nBEHIND:\nbar.sync 1;\n");
  EXPECT_NE(fault_of(1, 64).find("never come"), std::string::npos) << fault_of(1, 64);
}

TEST_F(WholeWarp, ShufflesAmongAllLanesAndAmongSome) {
  load("shfl.sync.bfly.b32 %r31, %r5, 5, 31, -1;\nst.global.u32 [%rd2], %r31;\n");
  EXPECT_EQ(steps_done(Quick::gather), 1);
  run(1, 32);
  for (std::uint32_t lane = 0; lane < 32; ++lane) EXPECT_EQ(y_[lane], lane ^ 5);
  load("shfl.sync.bfly.b32 %r31, %r5, 5, 31, 65535;\nst.global.u32 [%rd2], %r31;\n");
  EXPECT_EQ(steps_done(Quick::gather), 0);
  EXPECT_NE(fault_of(1, 32).find("member mask"), std::string::npos) << fault_of(1, 32);
}

TEST_F(WholeWarp, AccessesToGlobalMemoryAreCountedAlikeTheFirstTimeAndLater) {
  load(  // 8 rounds, a line further each time; then all from half a sector further on
      "mov.u32 %r6, 0;\nmov.u32 %r31, 0;\nROUND:\nld.global.u32 %r7, [%rd1];\nst.global.u32 [%rd2], %r7;\n"
      "add.s64 %rd1, %rd1, 128;\nadd.s64 %rd2, %rd2, 128;\nadd.u32 %r6, %r6, 1;\nsetp.lt.u32 %p1, %r6, 8;\n"
      "@%p1 bra ROUND;\nld.global.u32 %r7, [%rd1+16];\nst.global.u32 [%rd2+16], %r7;\n");
  counters_ = run(1, 32);
  for (const Traffic& traffic : {counters_.global_loads, counters_.global_stores}) {
    EXPECT_EQ(traffic.requests, 9u);
    EXPECT_EQ(traffic.sectors, 8u * 4 + 5);
    EXPECT_EQ(traffic.lines, 8u + 2);
    EXPECT_EQ(traffic.bytes_wanted, 9u * 128);
  }
  EXPECT_EQ(counters_.distinct_bytes_read, 32u * (8 * 4 + 5));
  EXPECT_EQ(counters_.distinct_bytes_written, 32u * (8 * 4 + 5));
  for (std::size_t i = 0; i < 8 * 32; ++i) EXPECT_EQ(y_[i], x_[i]) << i;
}

TEST_F(WholeWarp, TheEndOfABufferIsFoundBehindAccessesThatAreInIt) {
  const std::string rounds =
      "ROUND:\nld.global.u32 %r7, [%rd1];\nadd.s64 %rd1, %rd1, 4;\nadd.u32 %r6, %r6, 1;\nsetp.lt.u32 %p1, %r6, ";
  load("mov.u32 %r6, 0;\n" + rounds + "4065;\n@%p1 bra ROUND;\n");  // 4096 words: the last lane's is the last
  EXPECT_EQ(fault_of(1, 32), "no fault");
  load("mov.u32 %r6, 0;\n" + rounds + "4066;\n@%p1 bra ROUND;\n");
  EXPECT_NE(fault_of(1, 32).find("reads 4 bytes"), std::string::npos) << fault_of(1, 32);
  load("ld.global.u32 %r7, [%rd1];\nld.global.u32 %r7, [%rd1+32];\nld.global.u32 %r7, [%rd1+2];\n");
  EXPECT_NE(fault_of(1, 32).find("misaligned: an access of 4 bytes at byte"), std::string::npos) << fault_of(1, 32);
  load("st.global.u32 [%rd2], %r5;\nst.global.u32 [%rd2+32], %r5;\nst.global.u32 [%rd2+-2031616], %r5;\n");  // x
  EXPECT_NE(fault_of(1, 32).find("writes 4 bytes"), std::string::npos) << fault_of(1, 32);
}

TEST_F(WholeWarp, ALoopThatDoesNotEndIsEnded) {
  load("HERE:\nadd.u32 %r6, %r5, 1;\nbra HERE;\n");
  launch_.most_block_instructions = 10'000'000;
  launch_.most_instructions = 10'000'000;
  EXPECT_NE(fault_of(1, 32).find("does not end"), std::string::npos);
}

}  // namespace
}  // namespace cudal1::vgpu
