#include "device/vgpu/model/prediction.hpp"

#include <gtest/gtest.h>

#include "base/result.hpp"

namespace cudal1::vgpu {
namespace {

std::uint64_t& of(KernelCounters& counters, Pipe pipe) { return counters.instructions[static_cast<std::size_t>(pipe)]; }

KernelShape shape_of(std::uint32_t blocks, std::uint32_t threads = 256) {
  KernelShape shape;
  shape.grid = {blocks, 1, 1};
  shape.block = {threads, 1, 1};
  shape.traits.registers = 32;
  shape.traits.parallelism = {4, 4, 2};
  return shape;
}

Traffic traffic_of(double bytes, double sectors_per_request = 16) {
  const auto sectors = static_cast<std::uint64_t>(bytes / 32);
  return {static_cast<std::uint64_t>(static_cast<double>(sectors) / sectors_per_request), sectors,
          static_cast<std::uint64_t>(bytes)};
}

//! y = f(x), float4: `bytes` read and as many written.
KernelCounters copy_counters(std::uint32_t blocks, double bytes) {
  KernelCounters counters;
  counters.grid_blocks = counters.blocks = blocks;
  counters.global_loads = counters.global_stores = traffic_of(bytes);
  counters.distinct_bytes_read = counters.distinct_bytes_written = static_cast<std::uint64_t>(bytes);
  of(counters, Pipe::memory) = counters.global_loads.requests + counters.global_stores.requests;
  of(counters, Pipe::integer) = 4 * counters.global_loads.requests;
  counters.issue_clocks = counters.warp_instructions();
  counters.global_clocks = 75 * counters.global_loads.requests;  // four loads on their way
  counters.lanes = 32 * counters.warp_instructions();
  return counters;
}

double component(const KernelPrediction& prediction, const std::string& name) {
  for (const TimeComponent& part : prediction.components)
    if (part.name == name) return part.milliseconds;
  return 0;
}

const GpuProfile h200 = find_profile("h200");

TEST(Prediction, ALargeCopyTakesWhatDramTakes) {
  const KernelPrediction prediction = predict(h200, shape_of(1 << 16), copy_counters(1 << 16, 1e9));
  EXPECT_EQ(prediction.bound, "DRAM bandwidth");
  EXPECT_NEAR(prediction.milliseconds, 2e9 / 4.24e12 * 1e3, 0.1);
  EXPECT_GT(prediction.dram_share, 0.75);
  EXPECT_LE(prediction.dram_share, 0.883);
}

TEST(Prediction, TheSameCopyIsSlowerOnSlowerMemory) {
  const KernelCounters counters = copy_counters(1 << 16, 1e9);
  const double fast = predict(h200, shape_of(1 << 16), counters).milliseconds;
  const double slow = predict(find_profile("l40"), shape_of(1 << 16), counters).milliseconds;
  EXPECT_NEAR(slow / fast, 4.8e12 * 0.883 / (864e9 * 0.9), 1);
}

TEST(Prediction, ATinyKernelIsItsLaunchAndAGraphMakesItCheaper) {
  KernelShape shape = shape_of(1);
  const KernelPrediction alone = predict(h200, shape, copy_counters(1, 4096));
  EXPECT_EQ(alone.bound, "launch");
  shape.in_graph = true;
  EXPECT_LT(predict(h200, shape, copy_counters(1, 4096)).milliseconds, alone.milliseconds);
}

TEST(Prediction, UncoalescedLoadsCost) {
  KernelCounters counters = copy_counters(1 << 14, 2e8);
  const double coalesced = predict(h200, shape_of(1 << 14), counters).milliseconds;
  counters.global_loads.sectors *= 8;  // each sector is fetched eight times, for four bytes of it
  const KernelPrediction strided = predict(h200, shape_of(1 << 14), counters);
  EXPECT_GT(strided.milliseconds, 1.5 * coalesced);
}

TEST(Prediction, ArithmeticBoundsWhatComputes) {
  KernelCounters counters = copy_counters(1 << 14, 1e7);
  of(counters, Pipe::single) = 1'000'000'000;
  const KernelPrediction prediction = predict(h200, shape_of(1 << 14), counters);
  EXPECT_EQ(prediction.bound, "fp32");
  // 1e9 warp instructions on 132 multiprocessors, four a clock
  EXPECT_NEAR(component(prediction, "fp32"), 1e9 / 132 / 4 / 1.98e9 / 0.9 * 1e3, 0.05);
  EXPECT_EQ(prediction.busiest_pipe, "fp32");
  EXPECT_GT(prediction.busiest_pipe_share, 0.6);
  EXPECT_LT(prediction.busiest_pipe_share, 1);
}

TEST(Prediction, BankConflictsAreNamed) {
  KernelCounters counters = copy_counters(1 << 14, 1e7);
  counters.shared_requests = 100'000'000;
  counters.shared_passes = 100'000'000;
  const KernelPrediction without = predict(h200, shape_of(1 << 14), counters);
  EXPECT_EQ(without.bound, "shared memory");
  counters.shared_passes *= 16;
  const KernelPrediction with = predict(h200, shape_of(1 << 14), counters);
  EXPECT_EQ(with.bound, "shared memory conflicts");
  EXPECT_GT(with.milliseconds, 10 * without.milliseconds);
}

TEST(Prediction, MatrixTypesHaveTheirRates) {
  KernelCounters counters = copy_counters(1 << 12, 1e7);
  counters.tensor_products = 1'000'000'000'000;
  KernelShape shape = shape_of(1 << 12);
  const double half = predict(h200, shape, counters).milliseconds;
  shape.traits.tensor_type = TensorType::tf32;
  const KernelPrediction tf32 = predict(h200, shape, counters);
  EXPECT_EQ(tf32.bound, "tensor cores");
  EXPECT_NEAR(tf32.milliseconds / half, 2, 0.05);
}

TEST(Prediction, LowOccupancyExposesLatency) {
  KernelCounters counters = copy_counters(2640, 2e8);
  KernelShape shape = shape_of(2640, 32);
  counters.global_clocks = 300 * counters.global_loads.requests;
  const double roomy = predict(h200, shape, counters).milliseconds;
  shape.shared_bytes = 200 << 10;  // one block of one warp on a multiprocessor
  const KernelPrediction cramped = predict(h200, shape, counters);
  EXPECT_EQ(cramped.bound, "latency: 2% occupancy");
  EXPECT_EQ(cramped.occupancy.limit, Occupancy::Limit::shared_memory);
  EXPECT_GT(cramped.milliseconds, 5 * roomy);
  counters.global_clocks /= 8;
  EXPECT_LT(predict(h200, shape, counters).milliseconds, 0.4 * cramped.milliseconds);
}

TEST(Prediction, FewBlocksLeaveMultiprocessorsIdle) {
  KernelCounters counters = copy_counters(8, 1e6);
  of(counters, Pipe::single) = 10'000'000;
  const KernelPrediction few = predict(h200, shape_of(8), counters);
  EXPECT_EQ(few.bound, "too few blocks: 8 for 132 multiprocessors");
  counters.grid_blocks = counters.blocks = 1320;
  EXPECT_GT(few.milliseconds, 5 * predict(h200, shape_of(1320), counters).milliseconds);
}

TEST(Prediction, NearlyEnoughBlocksAreNotCalledTooFew) {
  KernelCounters counters = copy_counters(128, 1e6);
  of(counters, Pipe::single) = 10'000'000;
  EXPECT_FALSE(predict(h200, shape_of(128), counters).bound.starts_with("too few blocks"));
  EXPECT_TRUE(predict(h200, shape_of(98), counters).bound.starts_with("too few blocks"));
}

TEST(Prediction, TheLastWaveCosts) {
  // As much work in 133 blocks as in 132: one multiprocessor has two.
  KernelCounters counters = copy_counters(132, 1e6);
  of(counters, Pipe::single) = 50'000'000;
  KernelShape shape = shape_of(132, 1024);
  const double even = predict(h200, shape, counters).milliseconds;
  shape.grid[0] = 133;
  counters.grid_blocks = counters.blocks = 133;
  EXPECT_GT(predict(h200, shape, counters).milliseconds, 1.3 * even);
}

TEST(Prediction, CountsOfSomeBlocksStandForAll) {
  const KernelCounters all = copy_counters(4096, 5e8);
  KernelCounters some = copy_counters(64, 5e8 / 64);
  some.grid_blocks = 4096;
  const double whole = predict(h200, shape_of(4096), all).milliseconds;
  EXPECT_NEAR(predict(h200, shape_of(4096), some).milliseconds, whole, 0.01 * whole);
}

TEST(Prediction, SampledBlocksCannotTouchMoreThanThereIs) {
  KernelCounters some = copy_counters(64, 64e6);
  some.grid_blocks = 4096;
  KernelShape shape = shape_of(4096);
  shape.buffer_bytes = 128'000'000;
  EXPECT_NEAR(predict(h200, shape, some).traffic.distinct_read, 128e6, 1);
}

TEST(Prediction, WhatAnEarlierStepLeftInL2IsNotReadFromDram) {
  KernelShape shape = shape_of(4096);
  const KernelCounters counters = copy_counters(4096, 2e7);
  const KernelPrediction cold = predict(h200, shape, counters);
  shape.cached_bytes = 20'000'000;
  const KernelPrediction warm = predict(h200, shape, counters);
  EXPECT_EQ(warm.traffic.dram_read, 0);
  EXPECT_LT(warm.milliseconds, cold.milliseconds);
}

TEST(Prediction, ReuseInsideABlockIsCheaperThanAcrossBlocks) {
  KernelCounters counters = copy_counters(4096, 4e7);
  counters.global_loads = traffic_of(4e9);
  counters.block_bytes_read = 4'000'000'000;  // every block reads all of its bytes once: L2 has to give them
  const KernelPrediction across = predict(h200, shape_of(4096), counters);
  EXPECT_EQ(across.bound, "L2 bandwidth");
  counters.block_bytes_read = 40'000'000;
  EXPECT_LT(predict(h200, shape_of(4096), counters).traffic.l2, 0.6 * across.traffic.l2);
}

TEST(Prediction, AtomicsOnFewAddressesAreCounted) {
  KernelCounters counters = copy_counters(4096, 1e6);
  counters.global_atomics = {100'000'000, 100'000'000, 400'000'000};
  EXPECT_EQ(predict(h200, shape_of(4096), counters).bound, "atomics");
}

TEST(Prediction, AtomicsOnOnePlaceTakeLongerThanOnMany) {
  KernelCounters counters = copy_counters(4096, 1e6);
  counters.global_atomics = {1'000'000, 1'000'000, 4'000'000};
  counters.busiest_atomics = 1'000;
  const double spread = predict(h200, shape_of(4096), counters).milliseconds;
  counters.busiest_atomics = 1'000'000;
  const KernelPrediction together = predict(h200, shape_of(4096), counters);
  EXPECT_EQ(together.bound, "atomics");
  EXPECT_GT(together.milliseconds, 5 * spread);
}

TEST(Prediction, SmallBlocksWaitForTheirStart) {
  const KernelCounters counters = copy_counters(1 << 19, 1e8);
  const KernelPrediction small = predict(h200, shape_of(1 << 19, 32), counters);
  EXPECT_EQ(small.bound, "block starts");
  EXPECT_GT(small.milliseconds, 2 * predict(h200, shape_of(1 << 14, 256), copy_counters(1 << 14, 1e8)).milliseconds);
}

TEST(Prediction, StridedStoresCostMoreThanSectorsInOrder) {
  KernelCounters counters = copy_counters(1 << 14, 1e8);
  counters.global_stores.sectors *= 8;
  counters.global_stores.lines = counters.global_stores.sectors / 4;
  const double in_order = predict(h200, shape_of(1 << 14), counters).milliseconds;
  counters.global_stores.lines = counters.global_stores.sectors;
  EXPECT_GT(predict(h200, shape_of(1 << 14), counters).milliseconds, 1.3 * in_order);
}

TEST(Prediction, AWarpsOwnRepeatsStayInL1) {
  KernelCounters counters = copy_counters(4096, 4e7);
  counters.global_loads = traffic_of(4e9);
  counters.block_bytes_read = 40'000'000;
  const double apart = predict(h200, shape_of(4096), counters).traffic.l2;
  counters.bytes_read_again = 3'900'000'000;
  EXPECT_LT(predict(h200, shape_of(4096), counters).traffic.l2, 0.7 * apart);
}

TEST(Prediction, LoneSectorsAreFetchedInPairs) {
  KernelCounters counters = copy_counters(4096, 1e8);
  const double whole = predict(h200, shape_of(4096), counters).traffic.dram_read;
  counters.distinct_bytes_fetched = 2 * counters.distinct_bytes_read;
  EXPECT_NEAR(predict(h200, shape_of(4096), counters).traffic.dram_read, 2 * whole, 1);
}

TEST(Prediction, MergedSharedLoadsTakeFewerPasses) {
  KernelCounters counters = copy_counters(1 << 14, 1e7);
  counters.shared_requests = counters.shared_passes = 100'000'000;
  counters.shared_quad_passes = 100'000'000;  // all lanes want the same
  KernelShape shape = shape_of(1 << 14);
  const double single = component(predict(h200, shape, counters), "shared memory");
  shape.traits.shared_load_width = 4;
  EXPECT_NEAR(component(predict(h200, shape, counters), "shared memory"), single / 4, 1e-6);
  counters.shared_quad_passes = 400'000'000;  // each lane its own: as many bytes as before
  EXPECT_NEAR(component(predict(h200, shape, counters), "shared memory"), single, 1e-6);
}

TEST(Prediction, MachineInstructionsCountWhereTheyAreKnown) {
  KernelCounters counters = copy_counters(1 << 14, 1e7);
  of(counters, Pipe::single) = 1'000'000'000;
  const double ptx = component(predict(h200, shape_of(1 << 14), counters), "fp32");
  counters.machine_instructions[static_cast<std::size_t>(Pipe::single)] = 500'000'000;
  EXPECT_NEAR(component(predict(h200, shape_of(1 << 14), counters), "fp32"), ptx / 2, 1e-6);
}

TEST(Prediction, DifferentAddressesOfConstantMemoryQueue) {
  KernelCounters counters = copy_counters(1 << 14, 1e7);
  EXPECT_EQ(component(predict(h200, shape_of(1 << 14), counters), "constant memory"), 0);
  counters.constant_passes = 100'000'000;
  const KernelPrediction queued = predict(h200, shape_of(1 << 14), counters);
  EXPECT_EQ(queued.bound, "constant memory");
  EXPECT_NEAR(component(queued, "constant memory"), 1e8 / 132 / 1.98e9 * 1e3, 0.01);
}

TEST(Prediction, ScatteredWordsInL1TakeFourLinesAClockUnlessTheirBanksCollide) {
  KernelCounters counters = copy_counters(1 << 14, 1e8);
  counters.global_loads.lines = counters.global_loads.sectors = 32 * counters.global_loads.requests;
  counters.global_loads.passes = 3 * counters.global_loads.requests;
  const double scattered = component(predict(h200, shape_of(1 << 14), counters), "L1 bandwidth");
  counters.global_loads.passes = 32 * counters.global_loads.requests;
  EXPECT_GT(component(predict(h200, shape_of(1 << 14), counters), "L1 bandwidth"), 1.5 * scattered);
}

TEST(Prediction, IntegerAdditionsSpreadOverTwoPipes) {
  KernelCounters counters = copy_counters(1 << 14, 1e7);
  const auto integer_ms = [&](Pipe pipe) {
    KernelCounters more = counters;
    more.machine_instructions[static_cast<std::size_t>(pipe)] = 1'000'000'000;
    return component(predict(h200, shape_of(1 << 14), more), "integer");
  };
  EXPECT_NEAR(integer_ms(Pipe::either), integer_ms(Pipe::integer) / 2, 1e-3);
  EXPECT_NEAR(integer_ms(Pipe::multiply), integer_ms(Pipe::integer), 1e-3);
}

TEST(Prediction, AShapeThatDoesNotFitIsAnError) try {
  predict(find_profile("l40"), shape_of(1, 2048), copy_counters(1, 1e3));
  FAIL() << "no error";
} catch (const Error& error) {
  EXPECT_STREQ(
      error.what(),
      "no multiprocessor of l40 holds a block of 2048 threads with 32 registers each and 0 bytes of shared memory");
}

TEST(Prediction, ComponentsAreSortedAndTogetherNoShorterThanTheLongest) {
  const KernelPrediction prediction = predict(h200, shape_of(4096), copy_counters(4096, 1e8));
  for (std::size_t i = 1; i < prediction.components.size(); ++i)
    EXPECT_GE(prediction.components[i - 1].milliseconds, prediction.components[i].milliseconds);
  EXPECT_GE(prediction.milliseconds, prediction.components[0].milliseconds + prediction.launch_milliseconds);
}

}  // namespace
}  // namespace cudal1::vgpu
