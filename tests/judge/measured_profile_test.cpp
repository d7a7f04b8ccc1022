#include "judge/measured_profile.hpp"

#include <gtest/gtest.h>

namespace cudal1 {
namespace {

using vgpu::KernelReport;
using vgpu::ProfileReport;

const vgpu::GpuProfile h200 = vgpu::find_profile("h200");

DeviceInfo device() {
  DeviceInfo info;
  info.name = "NVIDIA H200";
  info.multiprocessors = 132;
  return info;
}

LaunchStep launch(const std::string& kernel, std::int64_t blocks, int line) {
  LaunchStep step;
  step.kernel = kernel;
  step.grid = {blocks, 1, 1};
  step.block = {256, 1, 1};
  step.at = {line, 1};
  return step;
}

OpStep op(const std::string& name, const std::string& operation) {
  OpStep step;
  step.node.name = name;
  step.node.op = operation;
  return step;
}

//! zero counts; k; relu_1 (op); k again; view_1 (op).
Plan five_steps() {
  Plan plan;
  plan.buffers.resize(1);
  plan.buffers[0].name = "counts";
  plan.call = {ZeroStep{0}, launch("k", 4096, 3), op("relu_1", "aten::relu"), launch("k", 4096, 3),
               op("view_1", "aten::view")};
  return plan;
}

LaunchResources half_full() { return {64, 0, 1024, 4, 0.5}; }

//! Two ticks with nothing in between take 2 us.
StepTimes times(double zero, double first, double relu, double second) {
  StepTimes made{0.002, {}};
  for (const double milliseconds : {zero, first, relu, second, 0.0}) made.steps.push_back({milliseconds + 0.002, {}});
  made.steps[1].resources = made.steps[3].resources = half_full();
  return made;
}

ProfileReport measured() { return measured_profile(five_steps(), {times(0.001, 0.010, 0.005, 0.020)}, device()); }

KernelReport counted_kernel() {
  KernelReport row;
  row.name = "k";
  row.source_line = 3;
  row.milliseconds = 0.024;
  row.launch_milliseconds = 0.004;
  row.launches = 2;
  row.bytes_read = 24e6;
  row.bytes_written = 24e6;
  row.dram_bytes = 48e6;
  row.dram_share = 0.5;
  row.bound = "DRAM bandwidth";
  row.facts.emplace();
  row.facts->busiest_pipe = "fp32";
  row.facts->busiest_pipe_share = 0.30;
  row.facts->sectors_per_request = row.facts->least_sectors_per_request = 4;
  row.residency.emplace();
  row.residency->registers = 40;
  row.residency->occupancy = 0.75;
  row.residency->occupancy_limit = "warps";
  return row;
}

ProfileReport counted() {
  ProfileReport report;
  report.add(counted_kernel());
  return report;
}

TEST(MeasuredProfile, HasARowForEveryStepThatRunsAndNoneForViews) {
  const ProfileReport report = measured();
  ASSERT_EQ(report.rows.size(), 3u);
  EXPECT_EQ(report.gpu, "NVIDIA H200");
  EXPECT_FALSE(report.predicted);
  EXPECT_EQ(report.rows[0].name, "k");
  EXPECT_EQ(report.rows[0].source_line, 3);
  EXPECT_EQ(report.rows[0].launches, 2u);
  EXPECT_EQ(report.rows[1].name, "relu_1");
  EXPECT_TRUE(report.rows[1].is_op);
  EXPECT_EQ(report.rows[2].name, "zero counts");
}

TEST(MeasuredProfile, WhatTheClockItselfTakesIsNoStepsTime) {
  const ProfileReport report = measured();
  EXPECT_DOUBLE_EQ(report.call_ms, 0.002);
  EXPECT_NEAR(report.rows[0].milliseconds, 0.030, 1e-12);
  EXPECT_NEAR(report.total_ms(), 0.002 + 0.001 + 0.010 + 0.005 + 0.020, 1e-12);
  EXPECT_NEAR(report.rows[0].share, 30.0 / 38.0, 1e-9);
}

TEST(MeasuredProfile, TakesTheMedianOfEveryStep) {
  const std::vector<StepTimes> calls{times(0.001, 0.010, 0.005, 0.020), times(0.001, 9.000, 0.004, 0.020),
                                     times(0.001, 0.011, 7.000, 0.020)};
  const ProfileReport report = measured_profile(five_steps(), calls, device());
  EXPECT_NEAR(report.rows[0].milliseconds, 0.011 + 0.020, 1e-12);
  EXPECT_NEAR(report.rows[1].milliseconds, 0.005, 1e-12);
}

TEST(MeasuredProfile, IgnoresCallsThatDoNotHaveAllSteps) {
  StepTimes short_of_one = times(0.001, 5.0, 5.0, 5.0);
  short_of_one.steps.pop_back();
  const ProfileReport report =
      measured_profile(five_steps(), {short_of_one, times(0.001, 0.010, 0.005, 0.020), StepTimes{}}, device());
  EXPECT_NEAR(report.rows[0].milliseconds, 0.030, 1e-12);
  EXPECT_THROW(measured_profile(five_steps(), {short_of_one, StepTimes{}}, device()), Error);
}

TEST(MeasuredProfile, ResidencyIsTheDrivers) {
  const KernelReport row = measured().rows[0];
  ASSERT_TRUE(row.residency);
  EXPECT_EQ(row.residency->registers, 64u);
  EXPECT_EQ(row.residency->blocks, 4096u);
  EXPECT_DOUBLE_EQ(row.residency->occupancy, 0.5);
  EXPECT_EQ(row.residency->occupancy_limit, "");
}

TEST(MeasuredProfile, GridThatDoesNotFillTheMultiprocessorsLimitsOccupancy) {
  Plan plan = five_steps();
  plan.call[1] = plan.call[3] = launch("k", 132, 3);  // one block each, where four fit
  const KernelReport row = measured_profile(plan, {times(0.001, 0.010, 0.005, 0.020)}, device()).rows[0];
  EXPECT_DOUBLE_EQ(row.residency->occupancy, 0.125);
  EXPECT_EQ(row.residency->occupancy_limit, "grid");
}

TEST(MeasuredProfile, WithoutCountsNothingIsClaimed) {
  for (const KernelReport& row : measured().rows) {
    EXPECT_FALSE(row.counted);
    EXPECT_FALSE(row.facts);
    EXPECT_EQ(row.bound, "");
    EXPECT_FALSE(row.predicted_milliseconds);
  }
}

TEST(AddCounts, SharesAreWhatWasCountedOverTheMeasuredTime) {
  ProfileReport report = measured();
  add_counts(report, counted(), h200);
  const KernelReport& row = report.rows[0];
  EXPECT_TRUE(row.counted);
  EXPECT_NEAR(row.milliseconds, 0.030, 1e-12);
  EXPECT_DOUBLE_EQ(*row.predicted_milliseconds, 0.024);
  EXPECT_NEAR(row.dram_share, 48e6 / h200.memory.dram_bytes_per_second / 30e-6, 1e-9);
  // 20 us without launches at 30% are 6 us of work, and 20% of what was measured.
  EXPECT_NEAR(row.facts->busiest_pipe_share, 0.20, 1e-9);
  EXPECT_EQ(row.bound, "DRAM bandwidth");
  EXPECT_NE(row.advice, "");
}

TEST(AddCounts, ResidencyStaysTheDriversAndGetsItsReason) {
  ProfileReport report = measured();
  add_counts(report, counted(), h200);
  EXPECT_EQ(report.rows[0].residency->registers, 64u);
  EXPECT_DOUBLE_EQ(report.rows[0].residency->occupancy, 0.5);
  EXPECT_EQ(report.rows[0].residency->occupancy_limit, "registers");  // 65536 over 64 are 32 warps of 64
}

TEST(AddCounts, StepsThatWereNotCountedStayAsTheyWere) {
  ProfileReport report = measured();
  ProfileReport others = counted();
  others.rows[0].source_line = 99;  // the same kernel, launched from another line
  add_counts(report, others, h200);
  for (const KernelReport& row : report.rows) EXPECT_FALSE(row.counted);
}

}  // namespace
}  // namespace cudal1
