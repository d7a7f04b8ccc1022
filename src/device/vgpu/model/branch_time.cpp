#include "device/vgpu/model/branch_time.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace cudal1::vgpu {
namespace {

//! Libraries compute results in tiles, a multiprocessor one at a time.
constexpr double tile_bytes = 128 * 128 * 4;

double share_of_tiles(const KernelReport& row, const GpuProfile& gpu) {
  const double tiles = std::max(1.0, std::ceil(row.bytes_written / tile_bytes));
  return tiles / static_cast<double>(gpu.chip.multiprocessors);
}

double busiest_share(const KernelReport& row, const GpuProfile& gpu) {
  const double dram = row.dram_share * gpu.memory.dram_bytes_per_second / gpu.dram_achievable_bytes_per_second();
  if (row.facts) return std::max({dram, row.facts->busiest_pipe_share, row.facts->l2_share});
  const bool computes = row.is_op && row.bound != "launch" && row.bound != "DRAM bandwidth";
  return computes ? std::max(dram, share_of_tiles(row, gpu)) : dram;
}

}  // namespace

StepCost cost_of(const KernelReport& row, const GpuProfile& gpu) {
  const double running = row.milliseconds - row.launch_milliseconds;
  return {row.milliseconds, running * std::clamp(busiest_share(row, gpu), 0.0, 1.0)};
}

double branched_ms(const std::vector<BranchStep>& branches, const std::vector<StepCost>& costs) {
  std::vector<double> end(costs.size(), 0.0);
  std::map<int, double> free_at;  // by branch
  double longest_path = 0.0, needed = 0.0;
  for (std::size_t i = 0; i < costs.size(); ++i) {
    double start = free_at[branches[i].branch];
    for (const std::size_t earlier : branches[i].waits_for) start = std::max(start, end[earlier]);
    end[i] = free_at[branches[i].branch] = start + costs[i].milliseconds;
    longest_path = std::max(longest_path, end[i]);
    needed += costs[i].whole_gpu_ms;
  }
  return std::max(longest_path, needed);
}

}  // namespace cudal1::vgpu
