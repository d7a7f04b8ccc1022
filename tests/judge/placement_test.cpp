#include "judge/placement.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace cudal1 {
namespace {

Buffer buffer(const std::string& name, BufferRole role, std::int64_t elements) {
  return {name, role, {DType::f32, {elements}, {1}}, false, false};
}

Plan plan_with_buffers() {
  Plan plan;
  plan.buffers = {buffer("x", BufferRole::input, 1003), buffer("w", BufferRole::weight, 7),
                  buffer("s", BufferRole::scratch, 64), buffer("y", BufferRole::output, 1003)};
  return plan;
}

TEST(Placement, LeavesARedZoneAroundEveryBufferAndAccountsForEveryByte) {
  const Plan plan = plan_with_buffers();
  const ArenaPlan arena = plan_arena(plan, 0);
  Random random(1);
  for (int draw = 0; draw < 200; ++draw) {
    BufferOffsets offsets;
    for (const bool moving : {false, true}) {
      const Zone zone = moving ? arena.moving : arena.fixed;
      const auto gaps = place_buffers(plan, arena, moving, random, offsets);
      std::uint64_t covered = 0;
      for (const Gap& gap : gaps) {
        EXPECT_GE(gap.bytes, 4096u);
        covered += gap.bytes;
      }
      for (std::size_t i = 0; i < plan.buffers.size(); ++i)
        if (moves_with_every_call(plan.buffers[i].role) == moving)
          covered += static_cast<std::uint64_t>(plan.buffers[i].meta.span_bytes());
      EXPECT_EQ(covered, zone.bytes);
    }
    for (const std::uint64_t offset : offsets) EXPECT_EQ(offset % 512, 0u);
  }
}

TEST(Placement, WhatOpStepsAllocateIsInTheSamePlaceForAllPlansThatHaveAsMuchOfIt) {
  Plan plan = plan_with_buffers();
  const ArenaPlan before = plan_arena(plan, 1000);
  plan.buffers.push_back(buffer("more", BufferRole::scratch, 1 << 20));
  const ArenaPlan after = plan_arena(plan, 1000);
  EXPECT_EQ(before.op_region, after.op_region);
  EXPECT_GE(before.op_region.bytes, 1000u);
  EXPECT_EQ(after.fixed.offset, after.op_region.offset + after.op_region.bytes);
  EXPECT_EQ(after.moving.offset, after.fixed.offset + after.fixed.bytes);
  EXPECT_EQ(after.total_bytes(), after.moving.offset + after.moving.bytes);
}

TEST(Placement, BuffersRoamThroughTheWholeZone) {
  constexpr std::uint64_t roaming = std::uint64_t{8} << 20;
  const Plan plan = plan_with_buffers();
  const ArenaPlan arena = plan_arena(plan, 0, roaming);
  Random random(3);
  std::uint64_t lowest = UINT64_MAX, highest = 0, farthest = 0;
  for (int draw = 0; draw < 500; ++draw) {
    BufferOffsets offsets;
    const auto gaps = place_buffers(plan, arena, true, random, offsets);
    std::uint64_t covered = 2 * 1003 * 4;
    for (const Gap& gap : gaps) {
      EXPECT_GE(gap.bytes, 4096u);
      covered += gap.bytes;
    }
    EXPECT_EQ(covered, arena.moving.bytes);
    EXPECT_EQ(offsets[0] % 512, 0u);
    lowest = std::min(lowest, offsets[0]);
    highest = std::max(highest, offsets[3]);
    farthest = std::max(farthest, offsets[3] - offsets[0]);
  }
  EXPECT_LT(lowest, arena.moving.offset + roaming / 10);
  EXPECT_GT(highest, arena.moving.offset + roaming * 9 / 10);
  EXPECT_GT(farthest, roaming * 8 / 10);
}

//! How far into the roaming room the input lies on average, with so many buffers of the other zone beside it.
double mean_place_of_input(int others) {
  constexpr std::uint64_t roaming = std::uint64_t{8} << 20;
  Plan plan = plan_with_buffers();
  for (int i = 0; i < others; ++i) plan.buffers.push_back(buffer("s", BufferRole::scratch, 64));
  const ArenaPlan arena = plan_arena(plan, 0, roaming);
  Random random(4);
  double sum = 0.0;
  constexpr int draws = 2000;
  for (int draw = 0; draw < draws; ++draw) {
    BufferOffsets offsets;
    place_buffers(plan, arena, true, random, offsets);
    sum += static_cast<double>(offsets[0] - arena.moving.offset) / static_cast<double>(roaming);
  }
  return sum / draws;
}

TEST(Placement, WhereABufferRoamsDoesNotDependOnBuffersElsewhere) {
  EXPECT_NEAR(mean_place_of_input(0), 1.0 / 3.0, 0.03);
  EXPECT_NEAR(mean_place_of_input(50), 1.0 / 3.0, 0.03);
}

TEST(Placement, MovesInputsAndOutputsAndLeavesTheRestWhereItIs) {
  const Plan plan = plan_with_buffers();
  const ArenaPlan arena = plan_arena(plan, 0);
  Random random(2);
  BufferOffsets offsets;
  place_buffers(plan, arena, false, random, offsets);
  place_buffers(plan, arena, true, random, offsets);
  const BufferOffsets before = offsets;
  int moved = 0;
  for (int draw = 0; draw < 20; ++draw) {
    place_buffers(plan, arena, true, random, offsets);
    moved += offsets[0] != before[0] && offsets[3] != before[3] ? 1 : 0;
    EXPECT_EQ(offsets[1], before[1]);
    EXPECT_EQ(offsets[2], before[2]);
  }
  EXPECT_GE(moved, 15);
}

TEST(Placement, SaysHowAbsurdAnAbsurdPlanIsInsteadOfOverflowing) {
  Plan plan = plan_with_buffers();
  plan.buffers.push_back(buffer("huge", BufferRole::scratch, std::int64_t{1} << 58));
  EXPECT_GE(plan_arena(plan, 0).total_bytes(), std::uint64_t{1} << 59);
}

}  // namespace
}  // namespace cudal1
