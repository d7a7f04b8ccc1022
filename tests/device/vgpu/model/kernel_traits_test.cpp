#include "device/vgpu/model/kernel_traits.hpp"

#include <gtest/gtest.h>

#include "device/vgpu/model/registers_needed.hpp"
#include "device/vgpu/ptx/function_flow.hpp"
#include "device/vgpu/ptx/parser.hpp"

namespace cudal1::vgpu {
namespace {

ptx::Function kernel(const std::string& body, const std::string& limits = "") {
  const ptx::Module module =
      ptx::parse(".version 7.5\n.target sm_86\n.address_size 64\n.entry k(.param .u64 x)\n" + limits +
                 "{\n.reg .pred %p<8>;\n.reg .b32 %r<64>;\n.reg .f32 %f<64>;\n.reg .b64 %rd<16>;\n" + body + "}\n");
  return *module.find("k");
}

std::string line(const std::string& format, int i) {
  std::string text = format;
  for (std::size_t at = 0; (at = text.find('#')) != std::string::npos;) text.replace(at, 1, std::to_string(i));
  return text;
}

//! Loads n values, then adds them up.
std::string sum_of(int n, const std::string& load) {
  std::string body = "ld.param.u64 %rd1, [x];\n";
  for (int i = 0; i < n; ++i) body += line(load, i);
  body += "mov.f32 %f63, %f0;\n";
  for (int i = 1; i < n; ++i) body += line("add.f32 %f63, %f63, %f#;\n", i);
  return body + "st.global.f32 [%rd1], %f63;\nret;\n";
}

TEST(RegistersNeeded, GrowByWhatIsAliveAtOnce) {
  const std::uint32_t few = registers_needed(kernel(sum_of(4, "mul.f32 %f#, %f62, %f#;\n")));
  const std::uint32_t many = registers_needed(kernel(sum_of(40, "mul.f32 %f#, %f62, %f#;\n")));
  EXPECT_EQ(many - few, 36u);
}

TEST(RegistersNeeded, WidePairsCountTwiceAndPredicatesNothing) {
  const std::string none = "mul.f32 %f1, %f2, %f3;\nst.shared.f32 [0], %f1;\nret;\n";
  const std::string wide = "add.s64 %rd1, %rd2, %rd3;\nmul.f32 %f1, %f2, %f3;\nst.shared.f32 [%rd1], %f1;\nret;\n";
  const std::string guarded =
      "setp.gt.f32 %p1, %f2, %f3;\nmul.f32 %f1, %f2, %f3;\n@%p1 st.shared.f32 [0], %f1;\nret;\n";
  EXPECT_EQ(registers_needed(kernel(wide)) - registers_needed(kernel(none)), 4u);  // two live pairs at the start
  EXPECT_EQ(registers_needed(kernel(guarded)), registers_needed(kernel(none)));
}

TEST(RegistersNeeded, ParametersAndNumbersAreFree) {
  const std::string with_parameter =
      "ld.param.u64 %rd1, [x];\ncvta.to.global.u64 %rd2, %rd1;\nmov.f32 %f1, 0f3F800000;\n"
      "add.f32 %f2, %f3, %f1;\nst.global.f32 [%rd2], %f2;\nret;\n";
  const std::string without = "add.f32 %f2, %f3, 0f3F800000;\nst.global.f32 [4096], %f2;\nret;\n";
  EXPECT_EQ(registers_needed(kernel(with_parameter)), registers_needed(kernel(without)));
}

TEST(RegistersNeeded, WhatIsUsedAfterALoopLivesThroughIt) {
  const std::string products = "mul.f32 %f9, %f8, %f8;\nmul.f32 %f10, %f8, %f8;\n";
  const std::string store = "add.f32 %f9, %f9, %f10;\nst.shared.f32 [0], %f9;\n";
  const std::string loop = "mov.u32 %r1, %tid.x;\nL: add.s32 %r1, %r1, 1;\nsetp.lt.s32 %p1, %r1, 9;\n@%p1 bra L;\n";
  const std::uint32_t across = registers_needed(kernel(products + loop + store + "ret;\n"));
  const std::uint32_t before = registers_needed(kernel(products + store + loop + "ret;\n"));
  EXPECT_EQ(across, before + 1);
}

TEST(RegistersNeeded, LaunchBoundsAreKept) {
  const std::string body = sum_of(60, "mul.f32 %f#, %f62, %f#;\n");
  EXPECT_GT(registers_needed(kernel(body)), 60u);
  EXPECT_EQ(registers_needed(kernel(body, ".maxntid 1024, 1, 1\n.minnctapersm 2\n")), 32u);
  EXPECT_EQ(registers_needed(kernel(body, ".maxntid 1024, 1, 1\n")), 64u);
  EXPECT_EQ(registers_needed(kernel(body, ".maxnreg 40\n")), 40u);
}

TEST(LoadsTogether, IndependentLoadsOverlap) {
  EXPECT_DOUBLE_EQ(load_parallelism(kernel(sum_of(8, "ld.global.f32 %f#, [%rd1+#];\n"))).global, 8);
  EXPECT_DOUBLE_EQ(load_parallelism(kernel(sum_of(8, "ld.shared.f32 %f#, [%rd1+#];\n"))).shared, 8);
  EXPECT_DOUBLE_EQ(load_parallelism(kernel(sum_of(8, "ld.shared.f32 %f#, [%rd1+#];\n"))).global, 1);
}

TEST(LoadsTogether, AChainOfPointersDoesNot) {
  EXPECT_DOUBLE_EQ(load_parallelism(kernel("ld.global.u64 %rd2, [%rd1];\nld.global.u64 %rd3, [%rd2];\n"
                                           "ld.global.u64 %rd4, [%rd3];\nst.global.u64 [%rd1], %rd4;\nret;\n"))
                       .global,
                   1);
}

TEST(LoadsTogether, BarriersAndStoresPartThem) {
  const std::string two = "ld.global.f32 %f1, [%rd1];\n#ld.global.f32 %f2, [%rd1+4];\nadd.f32 %f3, %f1, %f2;\nret;\n";
  const auto with = [&](const std::string& between) {
    std::string body = two;
    return load_parallelism(kernel(body.replace(body.find('#'), 1, between))).global;
  };
  EXPECT_DOUBLE_EQ(with(""), 2);
  EXPECT_DOUBLE_EQ(with("bar.sync 0;\n"), 1);
  EXPECT_DOUBLE_EQ(with("st.global.f32 [%rd2], %f1;\n"), 1);
  EXPECT_DOUBLE_EQ(with("st.shared.f32 [%rd2], %f1;\n"), 2);
}

TEST(LoadsTogether, LoadsThatNobodyChangesPassStores) {
  EXPECT_DOUBLE_EQ(load_parallelism(kernel("ld.global.nc.f32 %f1, [%rd1];\nst.global.f32 [%rd2], %f1;\n"
                                           "ld.global.nc.f32 %f2, [%rd1+4];\nst.global.f32 [%rd2], %f2;\nret;\n"))
                       .global,
                   2);
}

TEST(LoadsTogether, CopiesOverlapAcrossGroups) {
  const auto copies = [](const std::string& wait) {
    return load_parallelism(kernel("L: cp.async.ca.shared.global [%r1], [%rd1], 4;\ncp.async.commit_group;\n" + wait +
                                   "add.s32 %r1, %r1, 1;\nsetp.lt.s32 %p1, %r1, 9;\n@%p1 bra L;\nret;\n"))
        .global;
  };
  EXPECT_DOUBLE_EQ(copies("cp.async.wait_group 0;\n"), 1);
  EXPECT_DOUBLE_EQ(copies("cp.async.wait_group 2;\n"), 3);
}

//! clang puts the guarded load of a loop behind the loop and branches back: that is no second loop.
TEST(LoadsTogether, TheLayoutOfBlocksDoesNotMatter) {
  EXPECT_DOUBLE_EQ(load_parallelism(kernel("bra A;\nB: ld.global.f32 %f2, [%rd1+4];\nadd.f32 %f3, %f1, %f2;\n"
                                           "setp.gt.f32 %p1, %f3, %f4;\n@%p1 bra A;\nret;\n"
                                           "A: ld.global.f32 %f1, [%rd1];\nbra B;\n"))
                       .global,
                   2);
}

TEST(LoadsTogether, InnerLoopsCountMore) {
  // Alone outside, four together inside.
  std::string body = "ld.global.f32 %f9, [%rd1+64];\nst.shared.f32 [0], %f9;\nL: ";
  for (int i = 0; i < 4; ++i) body += line("ld.global.f32 %f#, [%rd1+#];\n", i);
  body += "add.f32 %f5, %f0, %f1;\nadd.s32 %r1, %r1, 1;\nsetp.lt.s32 %p1, %r1, 9;\n@%p1 bra L;\nret;\n";
  EXPECT_NEAR(load_parallelism(kernel(body)).global, 33.0 / 9, 1e-9);
}

TEST(FunctionFlow, FindsLoopsAndSecondResults) {
  const ptx::Function function = kernel(
      "L: M: add.s32 %r1, %r1, 1;\nsetp.lt.s32 %p1|%p2, %r1, 9;\n@%p1 bra M;\nshfl.sync.bfly.b32 %r2|%p3, %r1, 1, 31, "
      "-1;\n"
      "@%p2 bra L;\nret;\n");
  const FunctionFlow flow(function);
  EXPECT_EQ(flow.instructions[1].writes.size(), 2u);
  EXPECT_EQ(flow.instructions[3].writes.size(), 2u);
  EXPECT_EQ(flow.instructions[3].reads.size(), 1u);
  EXPECT_EQ(flow.loop_depth[5], 0u);
  EXPECT_EQ(flow.loop_depth[3], 1u);
}

TEST(KernelTraits, TheSlowestMatrixTypeCounts) {
  const std::string half =
      "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2}, {%r3}, {%f1,%f2,%f3,%f4};\n";
  const std::string tf32 =
      "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2}, {%r3}, {%f1,%f2,%f3,%f4};\n";
  EXPECT_EQ(traits_of(kernel(half + "ret;\n")).tensor_type, TensorType::f16);
  EXPECT_EQ(traits_of(kernel(half + tf32 + "ret;\n")).tensor_type, TensorType::tf32);
}

TEST(SharedLoadWidth, NeighbouringWordsBecomeOneLoad) {
  const auto width = [](const std::string& body) { return traits_of(kernel(body + "ret;\n")).shared_load_width; };
  const std::string two = "ld.shared.f32 %f1, [%rd1];\nld.shared.f32 %f2, [%rd1+4];\n";
  EXPECT_EQ(width("add.f32 %f1, %f2, %f3;\n"), 1);
  EXPECT_EQ(width(two), 2);
  EXPECT_EQ(width(two + "ld.shared.f32 %f3, [%rd1+8];\nld.shared.f32 %f4, [%rd1+12];\n"), 4);
  EXPECT_EQ(width("ld.shared.f32 %f1, [%rd1];\nld.shared.f32 %f2, [%rd1+128];\n"), 1);
  EXPECT_EQ(width("ld.shared.f32 %f1, [%rd1];\nld.shared.f32 %f2, [%rd2+4];\n"), 1);
  EXPECT_EQ(width("ld.shared.f32 %f1, [%rd1];\nbar.sync 0;\nld.shared.f32 %f2, [%rd1+4];\n"), 1);
}

}  // namespace
}  // namespace cudal1::vgpu
