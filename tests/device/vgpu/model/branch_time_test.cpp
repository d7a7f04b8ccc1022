// Steps side by side: the longest path counts, unless together they need more of the GPU.
#include "device/vgpu/model/branch_time.hpp"

#include <gtest/gtest.h>

namespace cudal1::vgpu {
namespace {

GpuProfile h200() { return find_profile("h200"); }

TEST(BranchTime, IsThatOfTheLongestPath) {
  const std::vector<BranchStep> branches{{0, {}}, {1, {}}, {0, {}}, {1, {2}}};
  EXPECT_DOUBLE_EQ(branched_ms(branches, {{1, 0}, {2, 0}, {3, 0}, {4, 0}}), 8) << "1, 3 and 4 follow one another";
  EXPECT_DOUBLE_EQ(branched_ms(branches, {{1, 0}, {5, 0}, {3, 0}, {4, 0}}), 9) << "a stream goes step by step";
}

TEST(BranchTime, IsNoLessThanWhatAllNeedOfTheGpu) {
  const std::vector<BranchStep> branches{{0, {}}, {1, {}}};
  EXPECT_DOUBLE_EQ(branched_ms(branches, {{1, 0.9}, {1, 0.9}}), 1.8);
  EXPECT_DOUBLE_EQ(branched_ms(branches, {{1, 0.2}, {1, 0.9}}), 1.1);
}

TEST(BranchTime, TakesOfAStepWhatItKeepsBusiest) {
  KernelReport row;
  row.milliseconds = 1.1;
  row.launch_milliseconds = 0.1;
  row.facts = KernelFacts{};
  row.facts->busiest_pipe_share = 0.7;
  EXPECT_DOUBLE_EQ(cost_of(row, h200()).milliseconds, 1.1);
  EXPECT_DOUBLE_EQ(cost_of(row, h200()).whole_gpu_ms, 0.7);
  row.dram_share = 1.0;
  EXPECT_DOUBLE_EQ(cost_of(row, h200()).whole_gpu_ms, 1.0) << "nothing is faster than its memory";
  row.facts.reset();
  row.dram_share = 0.0;
  row.is_op = true;
  row.bound = "tensor cores";
  row.bytes_written = 4.0 * 4096 * 4096;
  EXPECT_DOUBLE_EQ(cost_of(row, h200()).whole_gpu_ms, 1.0);
  row.bytes_written = 4.0 * 256 * 256;
  EXPECT_DOUBLE_EQ(cost_of(row, h200()).whole_gpu_ms, 4.0 / 132) << "four tiles keep four multiprocessors busy";
  row.bound = "launch";
  EXPECT_DOUBLE_EQ(cost_of(row, h200()).whole_gpu_ms, 0.0);
}

}  // namespace
}  // namespace cudal1::vgpu
