#include "device/vgpu/model/warp_latency.hpp"

#include <algorithm>

#include "device/vgpu/machine/warp_waits.hpp"

namespace cudal1::vgpu {
namespace {

//! Of a load, by where its bytes were found.
double load_latency(const GpuProfile& gpu, const ModelParameters& model, const MemoryTraffic& traffic) {
  const double reads = std::max(traffic.l2 + traffic.l1_hits, 1.0);
  const double l1 = std::min(traffic.l1_hits / reads, 1.0);
  const double dram = std::min(traffic.dram_read / reads, 1 - l1);
  return l1 * gpu.latency.l1 + dram * gpu.latency.dram * model.dram_latency_weight + (1 - l1 - dram) * gpu.latency.l2;
}

}  // namespace

double warp_cycles(const GpuProfile& gpu, const ModelParameters& model, const KernelShape& shape,
                   const KernelCounters& counters, const MemoryTraffic& traffic) {
  const double counted_blocks = static_cast<double>(counters.blocks > 0 ? counters.blocks : shape.blocks());
  const double warps = std::max(counted_blocks * shape.warps_per_block(), 1.0);
  const auto each = [&](std::uint64_t clocks) { return static_cast<double>(clocks) / warps; };
  const double waits = each(counters.issue_clocks) + each(counters.arithmetic_clocks) +
                       each(counters.shared_clocks) * gpu.latency.shared / assumed_shared_clocks +
                       each(counters.global_clocks) * load_latency(gpu, model, traffic) / assumed_global_clocks +
                       each(counters.barriers) * model.barrier_cycles;
  return model.block_start_cycles + model.warp_dispatch_cycles * shape.warps_per_block() + model.latency_weight * waits;
}

}  // namespace cudal1::vgpu
