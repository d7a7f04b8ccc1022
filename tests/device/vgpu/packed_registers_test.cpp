// Registers that are never wanted at the same time share a place; what is still wanted keeps its own.
#include <set>

#include "small_kernel.hpp"

namespace cudal1::vgpu {
namespace {

class PackedRegisters : public SmallKernel {
 protected:
  //! Of the steps that write words of y from there on.
  std::set<Slot> places_written() const {
    std::set<Slot> places;
    for (const Step& step : kernel_.steps)
      if (step.flow == Flow::compute) places.insert(step.operation.result);
    return places;
  }
  void store(const std::string& body) {
    load(body + "st.global.u32 [%rd2], %r31;\n");
    run(1, 32, 5);
  }
};

//! A value a register, each made of the one before it.
std::string chain(int first, int last) {
  std::string text = "add.u32 %r" + std::to_string(first) + ", %r5, 1;\n";
  for (int i = first + 1; i <= last; ++i)
    text += "add.u32 %r" + std::to_string(i) + ", %r" + std::to_string(i - 1) + ", 1;\n";
  return text;
}

TEST_F(PackedRegisters, ValuesThatFollowEachOtherNeedFewPlaces) {
  store(chain(6, 31));
  EXPECT_EQ(y_[3], 3u + 26u);
  EXPECT_LT(places_written().size(), 14u);  // 26 in the chain, 10 before it
  EXPECT_LT(kernel_.registers->bytes(), 32u * 128u);
}

TEST_F(PackedRegisters, WhatIsWantedLaterKeepsItsPlace) {
  store("mul.lo.u32 %r6, %r5, 100;\n" + chain(7, 30) + "add.u32 %r31, %r30, %r6;\n");
  for (std::uint32_t lane = 0; lane < 32; ++lane) EXPECT_EQ(y_[lane], 101 * lane + 24);
}

TEST_F(PackedRegisters, WhatALoopWantsInItsNextRoundKeepsItsPlace) {
  store(
      "mul.lo.u32 %r6, %r5, 3;\nmov.u32 %r7, 0;\nmov.u32 %r8, 0;\nROUND:\nadd.u32 %r8, %r8, %r6;\n" + chain(9, 30) +
      "add.u32 %r8, %r8, %r30;\nadd.u32 %r7, %r7, 1;\nsetp.lt.u32 %p1, %r7, 4;\n@%p1 bra ROUND;\nmov.u32 %r31, %r8;\n");
  for (std::uint32_t lane = 0; lane < 32; ++lane) EXPECT_EQ(y_[lane], 4 * (3 * lane + lane + 22));
}

TEST_F(PackedRegisters, LanesThatGoElsewhereKeepWhatTheyHave) {
  // While some lanes go through the chain the others wait behind it, with %r6 of their own.
  store("mul.lo.u32 %r6, %r5, 7;\nsetp.lt.u32 %p1, %r5, 16;\n@%p1 bra BEHIND;\n" + chain(7, 30) +
        "mov.u32 %r6, %r30;\nBEHIND:\nmov.u32 %r31, %r6;\n");
  for (std::uint32_t lane = 0; lane < 32; ++lane) EXPECT_EQ(y_[lane], lane < 16 ? 7 * lane : lane + 24);
}

TEST_F(PackedRegisters, WhatIsReadUnwrittenIsZeroInEveryBlock) {
  launch_.threads = 1;
  load(chain(6, 29) + "setp.eq.u32 %p1, %r3, 0;\n@%p1 mov.u32 %r31, %r29;\nst.global.u32 [%rd2], %r31;\n");
  run(2, 32);
  EXPECT_EQ(y_[2], 26u);
  EXPECT_EQ(y_[34], 0u);
}

}  // namespace
}  // namespace cudal1::vgpu
