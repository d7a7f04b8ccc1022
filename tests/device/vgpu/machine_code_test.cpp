// What the assembler is expected to make of PTX, and what a warp would wait for: on code written by hand.
#include "device/vgpu/machine/machine_code.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "device/vgpu/machine/machine_counts.hpp"
#include "device/vgpu/ptx/block_layout.hpp"
#include "device/vgpu/ptx/parser.hpp"

namespace cudal1::vgpu {
namespace {

ptx::Function kernel(const std::string& body) {
  const ptx::Module module = ptx::parse(
      ".version 7.5\n.target sm_86\n.address_size 64\n.entry k(.param .u64 x)\n{\n.reg .pred %p<8>;\n"
      ".reg .b32 %r<64>;\n.reg .f32 %f<64>;\n.reg .b64 %rd<16>;\n" +
      body + "}\n");
  return *module.find("k");
}

WarpWaits sum(const std::vector<WarpWaits>& waits) {
  WarpWaits all;
  for (const WarpWaits& one : waits) {
    all.issue += one.issue;
    all.arithmetic += one.arithmetic;
    all.shared += one.shared;
    all.global += one.global;
  }
  return all;
}

WarpWaits waits_of(const std::string& body) { return sum(machine_code(kernel(body)).waits); }

TEST(WarpWaits, LoadsThatDoNotDependOnEachOtherAreWaitedForOnce) {
  const std::string one = "ld.global.f32 %f1, [%rd1];\nadd.f32 %f3, %f1, %f1;\n";
  const std::string two =
      "ld.global.f32 %f1, [%rd1];\nadd.f32 %f3, %f1, %f1;\nld.global.f32 %f2, [%rd1+4];\n"
      "add.f32 %f3, %f3, %f2;\n";
  const std::string end = "st.global.f32 [%rd1], %f3;\nret;\n";
  EXPECT_NEAR(waits_of(one + end).global, assumed_global_clocks, 10);
  EXPECT_NEAR(waits_of(two + end).global, assumed_global_clocks, 10);
  const std::string chased = "ld.global.u64 %rd2, [%rd1];\nld.global.f32 %f3, [%rd2];\n";
  EXPECT_NEAR(waits_of(chased + end).global, 2 * assumed_global_clocks, 10);
}

TEST(WarpWaits, AStoreThatMayChangeItKeepsALoadBack) {
  const std::string body =
      "ld.global.f32 %f1, [%rd1];\nst.global.f32 [%rd2], %f1;\nld.global#.f32 %f2, [%rd3];\n"
      "st.global.f32 [%rd2+4], %f2;\nret;\n";
  const auto with = [&](const std::string& words) { return std::string(body).replace(body.find('#'), 1, words); };
  EXPECT_NEAR(waits_of(with("")).global, 2 * assumed_global_clocks, 10);
  EXPECT_NEAR(waits_of(with(".nc")).global, assumed_global_clocks, 10);
}

TEST(WarpWaits, ChainsOfArithmeticWaitAndIndependentOnesDoNot) {
  std::string chain, apart;
  for (int i = 1; i < 20; ++i) {
    const std::string n = std::to_string(i), before = std::to_string(i - 1);
    chain += "add.f32 %f" + n + ", %f" + before + ", %f63;\n";
    apart += "add.f32 %f" + n + ", %f62, %f63;\n";
  }
  EXPECT_NEAR(waits_of(chain + "ret;\n").arithmetic, 18 * 3, 4);
  EXPECT_EQ(waits_of(apart + "ret;\n").arithmetic, 0);
  EXPECT_EQ(waits_of(apart + "ret;\n").issue, 20);
}

TEST(WarpWaits, ValuesThatWaitForTheirUseFillTheRegisters) {
  std::string loads, uses;
  for (int i = 0; i < 60; ++i) {
    const std::string n = std::to_string(i);
    loads += "ld.global.nc.f32 %f" + n + ", [%rd1+" + std::to_string(4 * i) + "];\n";
    uses += "add.f32 %f63, %f63, %f" + n + ";\n";
  }
  // All at once need 60 registers and more; one after the other an assembler takes 32 and waits twice or more.
  std::string mixed;
  for (int i = 0; i < 60; ++i) {
    const std::string n = std::to_string(i);
    mixed += "ld.global.nc.f32 %f" + n + ", [%rd1+" + std::to_string(4 * i) + "];\nadd.f32 %f63, %f63, %f" + n + ";\n";
  }
  const std::string end = "st.global.f32 [%rd2], %f63;\nret;\n";
  EXPECT_LT(waits_of(loads + uses + end).global, 1.3 * assumed_global_clocks);
  EXPECT_GT(waits_of(mixed + end).global, 1.7 * assumed_global_clocks);
}

TEST(WarpWaits, NothingPassesADivisionThatBranches) {
  const std::string body = "div.#.f32 %f1, %f2, %f3;\ndiv.#.f32 %f4, %f5, %f6;\nret;\n";
  const auto with = [&](const std::string& word) {
    std::string text = body;
    for (std::size_t at = 0; (at = text.find('#')) != std::string::npos;) text.replace(at, 1, word);
    return waits_of(text).arithmetic;
  };
  EXPECT_GT(with("rn"), 60);
  EXPECT_LT(with("full"), 10);
}

const std::string prefetching_loop =
    "mov.u32 %r1, 0;\nld.global.f32 %f1, [%rd1];\nL:\nmov.f32 %f2, %f1;\nadd.s64 %rd1, %rd1, 128;\n"
    "ld.global.f32 %f1, [%rd1];\n#add.f32 %f3, %f3, %f2;\nadd.s32 %r1, %r1, 1;\nsetp.lt.s32 %p1, %r1, 99;\n"
    "bar.sync 0;\n@%p1 bra L;\nst.global.f32 [%rd2], %f3;\nret;\n";

TEST(WarpWaits, WhatTheTurnBeforeLoadedIsNearlyThere) {
  // 400 clocks of arithmetic in each turn cover the load for the next one.
  std::string busy;
  for (int i = 0; i < 100; ++i) busy += "add.f32 %f4, %f4, %f5;\n";
  const auto with = [](const std::string& work) {
    std::string text = prefetching_loop;
    return text.replace(text.find('#'), 1, work);
  };
  EXPECT_GT(waits_of(with("")).global, 0.8 * assumed_global_clocks);
  EXPECT_LT(waits_of(with(busy)).global, 0.1 * assumed_global_clocks);
}

TEST(WarpWaits, GroupsOfCopiesThatMayStayUnfinishedAreNotWaitedFor) {
  const auto pipeline = [](int left) {
    std::string busy;
    for (int i = 0; i < 60; ++i) busy += "add.f32 %f4, %f4, %f5;\n";
    return "mov.u32 %r1, 0;\nL:\ncp.async.cg.shared.global [%r2], [%rd1], 16;\ncp.async.commit_group;\n"
           "cp.async.wait_group " +
           std::to_string(left) + ";\nbar.sync 0;\n" + busy +
           "add.s32 %r1, %r1, 1;\nsetp.lt.s32 %p1, %r1, 99;\n@%p1 bra L;\nret;\n";
  };
  EXPECT_NEAR(waits_of(pipeline(0)).global, assumed_global_clocks, 20);
  EXPECT_LT(waits_of(pipeline(1)).global, 0.4 * assumed_global_clocks);
}

const std::string plain_loop =
    "mov.u32 %r1, 0;\nL:\n#ld.global.nc.f32 %f1, [%rd1];\nadd.f32 %f3, %f3, %f1;\nadd.s64 %rd1, %rd1, 128;\n"
    "add.s32 %r1, %r1, 1;\nsetp.lt.s32 %p1, %r1, 99;\n@%p1 bra L;\nst.global.f32 [%rd2], %f3;\nret;\n";

std::string loop_with(const std::string& first) {
  std::string text = plain_loop;
  return text.replace(text.find('#'), 1, first);
}

TEST(MachineCode, SmallLoopsTakeFourTurnsAtOnce) {
  const MachineCode code = machine_code(kernel(loop_with("")));
  ASSERT_EQ(code.loops.size(), 1u);
  EXPECT_NEAR(sum(code.waits).global, assumed_global_clocks, 10);
  EXPECT_NEAR(sum(code.loops[0].waits).global, assumed_global_clocks / 4, 10);
  EXPECT_LT(sum(code.loops[0].waits).issue, 4);  // of six instructions the counters and the branch are left once
}

TEST(MachineCode, LoopsWithAPragmaABarrierOrMuchInThemStayAsTheyAre) {
  EXPECT_TRUE(machine_code(kernel(loop_with(".pragma \"nounroll\";\n"))).loops.empty());
  EXPECT_TRUE(machine_code(kernel(loop_with("bar.sync 0;\n"))).loops.empty());
  std::string much;
  for (int i = 0; i < 70; ++i) much += "add.f32 %f4, %f4, %f5;\n";
  EXPECT_TRUE(machine_code(kernel(loop_with(much))).loops.empty());
}

TEST(MachineCode, ALoopCountsAsUnrolledForItsWholeFours) {
  const MachineCode code = machine_code(kernel(loop_with("")));
  const auto global_clocks = [&](std::uint64_t turns) {
    std::vector<std::uint64_t> visits(code.work.size(), 1);
    for (const std::size_t i : code.loops[0].instructions) visits[i] = turns;
    KernelCounters counters;
    count_machine_code(code, visits, counters);
    return static_cast<double>(counters.global_clocks);
  };
  EXPECT_NEAR(global_clocks(1), assumed_global_clocks, 10);
  EXPECT_NEAR(global_clocks(4), assumed_global_clocks, 20);
  EXPECT_NEAR(global_clocks(7), 4 * assumed_global_clocks, 30);
}

TEST(MachineCode, ChainsOfNumbersFoldAndReciprocalsLeaveLoops) {
  const auto work = [](const std::string& body) {
    double all = 0;
    for (const MachineWork& one : machine_code(kernel(body)).work) all += std::accumulate(one.begin(), one.end(), 0.0);
    return all;
  };
  const std::string end = "st.global.u32 [%rd1], %r9;\nret;\n";
  const double one = work("mad.lo.s32 %r9, %r1, 5, 3;\n" + end);
  EXPECT_EQ(work("mad.lo.s32 %r2, %r1, 5, 3;\nmad.lo.s32 %r3, %r2, 5, 3;\nadd.s32 %r9, %r3, 7;\n" + end), one);
  EXPECT_GT(work("mad.lo.s32 %r2, %r1, 5, 3;\nmad.lo.s32 %r9, %r2, 5, 3;\nst.global.u32 [%rd2], %r2;\n" + end), one);
  const std::string turn = "rem.u32 %r9, %r1, %r2;\nadd.s32 %r1, %r1, 1;\nsetp.lt.s32 %p1, %r1, 99;\n@%p1 bra L;\n";
  EXPECT_LT(work("L:\n" + turn + end) + 5, work("L:\nadd.s32 %r2, %r2, %r3;\n" + turn + end));
}

TEST(BlockLayout, PutsTheEndOfALoopBelowItsMiddle) {
  const ptx::Function given = kernel(
      "bra.uni MIDDLE;\nEND:\nadd.s32 %r1, %r1, 1;\nsetp.lt.s32 %p1, %r1, 9;\n@!%p1 bra OUT;\n"
      "MIDDLE:\nadd.s32 %r2, %r2, 1;\nbra.uni END;\nOUT:\nst.global.u32 [%rd1], %r2;\nret;\n");
  const ptx::Function made = laid_out(given);
  EXPECT_LT(made.labels.at("MIDDLE"), made.labels.at("END"));
  EXPECT_LT(made.labels.at("END"), made.labels.at("OUT"));
  EXPECT_EQ(made.instructions[made.labels.at("OUT")].opcode, "st");
  EXPECT_EQ(made.instructions[made.labels.at("MIDDLE")].operands[0].name, "%r2");
}

TEST(BlockLayout, LeavesAloneWhatIsInOrder) {
  const ptx::Function given = kernel("L:\nadd.s32 %r1, %r1, 1;\nsetp.lt.s32 %p1, %r1, 9;\n@%p1 bra L;\nret;\n");
  EXPECT_EQ(laid_out(given).instructions.size(), given.instructions.size());
}

}  // namespace
}  // namespace cudal1::vgpu
