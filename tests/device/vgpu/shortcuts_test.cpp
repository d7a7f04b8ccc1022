// What the machine leaves out because it is known beforehand must not change what comes out.
#include <algorithm>

#include "small_kernel.hpp"

namespace cudal1::vgpu {
namespace {

constexpr const char* tile = ".shared .align 16 .b8 tile[4096];\n";

class Shortcuts : public SmallKernel {
 protected:
  Shortcuts() {
    launch_.threads = 1;  // so that blocks follow each other on the same registers
    std::iota(x_.begin(), x_.end(), 1000u);
  }
  auto repeated_accesses() const {
    return std::ranges::count_if(kernel_.steps, [](const Step& step) { return step.address_repeated; });
  }

  std::vector<std::uint32_t> results_of(const std::string& body, const std::string& outside = "") {
    std::ranges::fill(y_, 0);
    load(body, outside);
    run(1, 32, 5);
    return {y_.begin(), y_.begin() + 32};
  }
};

TEST_F(Shortcuts, AParameterFarOutsideIsNotTakenFromARegister) {
  load("ld.param.u32 %r6, [y+9223372036854775807];\nst.global.u32 [%rd2], %r6;\n");
  EXPECT_NE(fault_of(1, 32), "no fault");
  load("ld.param.u32 %r6, [y-9223372036854775808];\nst.global.u32 [%rd2], %r6;\n");
  EXPECT_NE(fault_of(1, 32), "no fault");
}

TEST_F(Shortcuts, AccessesThroughOneRegisterAreComparedOnce) {
  const auto found = results_of(
      "ld.global.u32 %r6, [%rd1];\nld.global.u32 %r7, [%rd1+4];\nadd.u32 %r6, %r6, %r7;\n"
      "st.global.u32 [%rd2], %r6;\n");
  EXPECT_EQ(repeated_accesses(), 1);
  for (std::uint32_t lane = 0; lane < 32; ++lane) EXPECT_EQ(found[lane], 2001 + 2 * lane);
}

TEST_F(Shortcuts, AnAddressThatChangesIsComparedAgain) {
  const auto found = results_of(  // the second time in the opposite order
      "ld.global.u32 %r6, [%rd1];\nsub.u32 %r8, 31, %r5;\nmul.wide.u32 %rd5, %r8, 4;\nadd.s64 %rd1, %rd3, %rd5;\n"
      "ld.global.u32 %r7, [%rd1];\nmul.lo.u32 %r7, %r7, 2;\nadd.u32 %r6, %r6, %r7;\nst.global.u32 [%rd2], %r6;\n");
  EXPECT_EQ(repeated_accesses(), 0);
  for (std::uint32_t lane = 0; lane < 32; ++lane) EXPECT_EQ(found[lane], 1000 + lane + 2 * (1031 - lane));
}

TEST_F(Shortcuts, ALoadIntoItsOwnAddressChangesIt) {
  x_[0] = static_cast<std::uint32_t>(x_address);
  load("mov.u64 %rd6, %rd3;\nld.global.u64 %rd6, [%rd6];\nld.global.u64 %rd7, [%rd6];\n");
  EXPECT_EQ(repeated_accesses(), 0);
}

TEST_F(Shortcuts, NothingIsKnownBehindABranchABarrierAShuffleOrAGuard) {
  const std::string access = "ld.global.u32 %r6, [%rd1];\n";
  for (const std::string between : {"HERE:\n", "bar.sync 0;\n", "shfl.sync.bfly.b32 %r7, %r5, 1, 31, -1;\n"}) {
    load(access + between + access);
    EXPECT_EQ(repeated_accesses(), between == "HERE:\n" ? 1 : 0) << between;  // nobody comes to that label
  }
  load(access + "HERE:\n" + access + "setp.lt.u32 %p1, %r2, 3;\n@%p1 bra HERE;\n");
  EXPECT_EQ(repeated_accesses(), 0);
  load("setp.lt.u32 %p1, %r5, 3;\n@%p1 " + access + access);
  EXPECT_EQ(repeated_accesses(), 0);
  load("setp.lt.u32 %p1, %r5, 3;\n" + access + "@%p1 " + access);
  EXPECT_EQ(repeated_accesses(), 0);
}

TEST_F(Shortcuts, RegistersThatAreWrittenFirstAreNotCleared) {
  load("mov.u32 %r6, 3;\nst.global.u32 [%rd2], %r6;\n");
  EXPECT_TRUE(kernel_.read_unwritten.empty());
}

TEST_F(Shortcuts, WhatABlockLeftInARegisterTheNextDoesNotSee) {
  load("setp.eq.u32 %p1, %r3, 0;\n@%p1 mov.u32 %r10, 7;\nst.global.u32 [%rd2], %r10;\n");
  EXPECT_EQ(kernel_.read_unwritten.size(), 1u);
  run(3, 32);
  EXPECT_EQ(y_[0], 7u);
  EXPECT_EQ(y_[32], 0u);
  EXPECT_EQ(y_[64], 0u);
}

TEST_F(Shortcuts, ARegisterThatOnlyOnePathWritesIsCleared) {
  load("setp.ne.u32 %p1, %r3, 0;\n@%p1 bra BEHIND;\nmov.u32 %r10, 7;\nBEHIND:\nst.global.u32 [%rd2], %r10;\n");
  run(2, 32);
  EXPECT_EQ(y_[0], 7u);
  EXPECT_EQ(y_[32], 0u);
}

TEST_F(Shortcuts, AnAccumulatorOfALoopIsClearedWhereNothingElseDoesIt) {
  load(
      "mov.u32 %r6, 0;\nROUND:\nadd.u32 %r10, %r10, 1;\nadd.u32 %r6, %r6, 1;\nsetp.lt.u32 %p1, %r6, 4;\n"
      "@%p1 bra ROUND;\nst.global.u32 [%rd2], %r10;\n");
  run(2, 32);
  EXPECT_EQ(y_[0], 4u);
  EXPECT_EQ(y_[32], 4u);
}

TEST_F(Shortcuts, ShufflesByNumbersDoWhatThoseByRegistersDo) {
  const std::string end = ";\nst.global.u32 [%rd2], %r7;\n@%p1 st.global.u32 [%rd2+128], %r5;\n";
  for (const std::string mode : {"up", "down", "bfly", "idx"})
    for (const int count : {0, 1, 3, 8, 16, 31})
      for (const int control : {0, 31, 0x181f, 0x1800, 0x1007}) {
        const std::string name = "shfl.sync." + mode + ".b32 %r7|%p1, %r5, ";
        const std::string numbers = std::to_string(count) + ", " + std::to_string(control);
        results_of("mov.u32 %r7, 0;\n" + name + numbers + ", -1" + end);
        const std::vector<std::uint32_t> by_numbers = y_;
        EXPECT_EQ(kernel_.shuffles.size(), 1u);
        results_of("mov.u32 %r8, " + std::to_string(count) + ";\nmov.u32 %r9, " + std::to_string(control) + ";\n" +
                   name + "%r8, %r9, -1" + end);
        EXPECT_TRUE(kernel_.shuffles.empty());
        EXPECT_EQ(by_numbers, y_) << mode << " " << numbers;
      }
}

TEST_F(Shortcuts, StoresInPiecesOfEightLanesAndBackwards) {
  const std::string shared =
      "mov.u64 %rd7, tile;\nadd.s64 %rd6, %rd7, %rd6;\nst.shared.u32 [%rd6], %r5;\n"
      "ld.shared.u32 %r7, [%rd6];\nst.global.u32 [%rd2], %r7;\n";
  const auto pieces = results_of(
      "and.b32 %r6, %r5, 7;\nshr.u32 %r7, %r5, 3;\nmad.lo.u32 %r6, %r7, 20, %r6;\nmul.wide.u32 %rd6, %r6, 4;\n" +
          shared,
      tile);
  const auto backwards = results_of("sub.u32 %r6, 31, %r5;\nmul.wide.u32 %rd6, %r6, 4;\n" + shared, tile);
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(pieces[lane], lane);
    EXPECT_EQ(backwards[lane], lane);
  }
}

TEST_F(Shortcuts, ParametersAreReadWholeInPartsAndNarrow) {
  const auto whole = results_of(
      "ld.param.u32 %r6, [y];\nld.param.u32 %r7, [y+4];\nadd.u32 %r6, %r6, %r7;\n"
      "ld.param.u8 %r7, [n];\nadd.u32 %r6, %r6, %r7;\nst.global.u32 [%rd2], %r6;\n");
  EXPECT_EQ(whole[0], y_address + 5);
  EXPECT_EQ(whole[31], y_address + 5);
}

}  // namespace
}  // namespace cudal1::vgpu
