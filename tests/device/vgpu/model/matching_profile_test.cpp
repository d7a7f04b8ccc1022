#include "device/vgpu/model/matching_profile.hpp"

#include <gtest/gtest.h>

#include "device/vgpu/model/gpu_profile.hpp"

namespace cudal1::vgpu {
namespace {

DeviceFacts device(const std::string& name, const std::string& capability, std::int64_t multiprocessors) {
  return {name, capability, multiprocessors, 1.5, 30'000'000, 1e12};
}

GpuProfile profile_of(const DeviceFacts& facts) { return parse_profile(profile_for(facts).text, "made"); }

TEST(MatchingProfile, IsFoundByTheNameThatTheDriverGives) {
  EXPECT_EQ(profile_for(device("NVIDIA H200", "9.0", 132)).origin, "h200");
  EXPECT_EQ(profile_for(device("NVIDIA H100 80GB HBM3", "9.0", 132)).origin, "h100");
  EXPECT_EQ(profile_for(device("NVIDIA A100-SXM4-80GB", "8.0", 108)).origin, "a100");
  EXPECT_EQ(profile_for(device("NVIDIA L40", "8.9", 142)).origin, "l40");
  EXPECT_EQ(profile_for(device("NVIDIA GeForce RTX 4090", "8.9", 128)).origin, "rtx4090");
}

TEST(MatchingProfile, OfAKnownGpuIsTheFileAsItIs) {
  const GpuProfile made = profile_of(device("NVIDIA H200", "9.0", 132)), known = find_profile("h200");
  EXPECT_EQ(made.title, known.title);
  EXPECT_EQ(made.chip.clock_ghz, known.chip.clock_ghz);
  EXPECT_EQ(made.memory.dram_bytes_per_second, known.memory.dram_bytes_per_second);
}

TEST(MatchingProfile, SmallerChipOfTheSameNameGetsItsOwnNumbers) {
  const GpuProfile made = profile_of(device("NVIDIA H100 PCIe", "9.0", 114));
  EXPECT_EQ(made.title, "NVIDIA H100 PCIe");
  EXPECT_EQ(made.chip.multiprocessors, 114);
  EXPECT_EQ(made.chip.clock_ghz, 1.5);
  EXPECT_EQ(made.memory.l2_bytes, 30'000'000);
  EXPECT_EQ(made.memory.dram_bytes_per_second, 1e12);
  EXPECT_EQ(made.compute_capability, "9.0");
}

TEST(MatchingProfile, NameThatOnlyBeginsAlikeIsAnotherGpu) {
  EXPECT_EQ(profile_of(device("NVIDIA L40S", "8.9", 142)).title, "NVIDIA L40S");
  EXPECT_EQ(profile_of(device("NVIDIA GeForce RTX 4090 Laptop GPU", "8.9", 76)).chip.multiprocessors, 76);
}

TEST(MatchingProfile, UnknownGpuTakesAfterItsGeneration) {
  EXPECT_EQ(profile_of(device("NVIDIA GeForce RTX 3080", "8.6", 68)).compute_capability, "8.9");
  EXPECT_EQ(profile_of(device("NVIDIA A30", "8.0", 56)).compute_capability, "8.0");
  EXPECT_EQ(profile_of(device("NVIDIA B200", "10.0", 148)).compute_capability, "9.0");
}

TEST(MatchingProfile, BandwidthDecidesWithinAGeneration) {
  DeviceFacts fast = device("NVIDIA GH200", "9.0", 100);
  fast.dram_bytes_per_second = 4.9e12;
  EXPECT_EQ(parse_profile(profile_for(fast).text, "made").name, "h200");
  fast.dram_bytes_per_second = 3.0e12;
  EXPECT_EQ(parse_profile(profile_for(fast).text, "made").name, "h100");
}

TEST(MatchingProfile, WhatTheDriverDoesNotSayIsKept) {
  const GpuProfile made = profile_of({"a GPU without a driver's word", "9.0", 0, 0, 0, 0});
  EXPECT_GT(made.chip.multiprocessors, 0);
  EXPECT_GT(made.memory.dram_bytes_per_second, 0);
}

}  // namespace
}  // namespace cudal1::vgpu
