#include "device/vgpu/model/memory_traffic.hpp"

#include <algorithm>
#include <cmath>

namespace cudal1::vgpu {
namespace {

constexpr double sector_bytes = 32;

double bytes_of(const Traffic& traffic, double scale) {
  return static_cast<double>(traffic.sectors) * sector_bytes * scale;
}

//! Blocks that were not run touch new bytes, but no more than were asked for, and no more than there are.
double distinct(std::uint64_t counted, double scale, double asked, std::uint64_t buffer_bytes) {
  double bytes = std::min(static_cast<double>(counted) * scale, asked);
  if (scale > 1 && buffer_bytes > 0)
    bytes = std::min(bytes, std::max(static_cast<double>(buffer_bytes), static_cast<double>(counted)));
  return bytes;
}

//! The bytes that blocks read, each block's once. Where that was not counted, between the two it must lie between.
double read_by_blocks(const KernelCounters& counters, double scale, double distinct_read, double asked) {
  if (counters.block_bytes_read > 0)
    return std::clamp(static_cast<double>(counters.block_bytes_read) * scale, distinct_read, asked);
  return std::sqrt(distinct_read * asked);
}

//! Share of a block's repeated reads that L1 answers: less where all resident blocks together read more than it holds.
double l1_hit_share(const GpuProfile& gpu, const ModelParameters& model, const KernelShape& shape,
                    const Occupancy& occupancy, double bytes_of_a_block) {
  const double busiest = std::ceil(static_cast<double>(shape.blocks()) / static_cast<double>(gpu.chip.multiprocessors));
  const double resident = std::clamp(static_cast<double>(occupancy.blocks), 1.0, std::max(busiest, 1.0));
  const double left =
      std::max(static_cast<double>(gpu.memory.l1_bytes) - resident * static_cast<double>(shape.shared_bytes),
               static_cast<double>(gpu.memory.l1_bytes) / 16);
  const double wanted = std::max(resident * bytes_of_a_block, 1.0);
  return model.l1_hit_share * std::min(1.0, std::sqrt(left / wanted));
}

//! Bytes that L2 had lost when they were read again.
double read_twice(const GpuProfile& gpu, const MemoryTraffic& traffic, double l2_reads) {
  const double footprint = traffic.distinct_read + traffic.distinct_written;
  const double lost = std::max(0.0, 1 - static_cast<double>(gpu.memory.l2_bytes) / std::max(footprint, 1.0));
  return std::max(0.0, l2_reads - traffic.distinct_read) * lost * lost;
}

//! DRAM gives pairs of sectors: how much more that is than was wanted.
double fetch_factor(const KernelCounters& counters) {
  const double wanted = static_cast<double>(counters.distinct_bytes_read);
  return wanted > 0 ? std::max(1.0, static_cast<double>(counters.distinct_bytes_fetched) / wanted) : 1;
}

}  // namespace

double written_back(const GpuProfile& gpu, const ModelParameters& model, double read, double written) {
  const double half = static_cast<double>(gpu.memory.l2_bytes) / 2, held = std::min(written, half);
  return written - held + held * model.write_back_share + std::min(read + written, half) * model.eviction_share;
}

double scale_of(const KernelShape& shape, const KernelCounters& counters) {
  const std::uint64_t grid = counters.grid_blocks > 0 ? counters.grid_blocks : shape.blocks();
  return counters.blocks == 0 ? 1 : static_cast<double>(grid) / static_cast<double>(counters.blocks);
}

MemoryTraffic memory_traffic(const GpuProfile& gpu, const ModelParameters& model, const KernelShape& shape,
                             const KernelCounters& counters, const Occupancy& occupancy) {
  const double scale = scale_of(shape, counters);
  const double loads = bytes_of(counters.global_loads, scale), stores = bytes_of(counters.global_stores, scale);
  const double atomics = bytes_of(counters.global_atomics, scale), local = bytes_of(counters.local_accesses, scale);

  MemoryTraffic traffic;
  traffic.distinct_read = distinct(counters.distinct_bytes_read, scale, loads + atomics, shape.buffer_bytes);
  traffic.distinct_written = distinct(counters.distinct_bytes_written, scale, stores + atomics, shape.buffer_bytes);
  traffic.l1 = loads + stores + local;

  const double by_blocks = read_by_blocks(counters, scale, std::min(traffic.distinct_read, loads), loads);
  const double of_a_block = by_blocks / static_cast<double>(std::max<std::uint64_t>(shape.blocks(), 1));
  const double repeated = loads - by_blocks;
  const double near = std::min(static_cast<double>(counters.bytes_read_again) * scale, repeated);
  traffic.l1_hits = near + (repeated - near) * l1_hit_share(gpu, model, shape, occupancy, of_a_block);
  const double l2_reads = loads - traffic.l1_hits + atomics;
  traffic.l2 = l2_reads + stores;

  const double cold = std::max(0.0, traffic.distinct_read - static_cast<double>(shape.cached_bytes));
  traffic.dram_read = cold * fetch_factor(counters) + read_twice(gpu, traffic, l2_reads);
  traffic.dram_written = written_back(gpu, model, traffic.dram_read, traffic.distinct_written);
  return traffic;
}

}  // namespace cudal1::vgpu
