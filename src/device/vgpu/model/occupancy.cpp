#include "device/vgpu/model/occupancy.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace cudal1::vgpu {
namespace {

constexpr std::int64_t warp_lanes = 32;

std::int64_t round_up(std::int64_t value, std::int64_t unit) { return (value + unit - 1) / unit * unit; }

std::int64_t blocks_by_warps(const GpuProfile::Limits& limits, std::int64_t warps) {
  return std::min(limits.warps, limits.threads / warp_lanes) / warps;
}

//! Warps get registers from the file of their scheduler, so that what is left of one does not help another.
std::int64_t blocks_by_registers(const GpuProfile::Limits& limits, std::int64_t warps, std::int64_t registers) {
  if (registers > limits.registers_per_thread) return 0;
  if (registers == 0) return limits.blocks;
  const std::int64_t of_a_warp = round_up(registers * warp_lanes, limits.register_granularity);
  const std::int64_t of_a_scheduler = limits.registers / limits.warp_granularity / of_a_warp;
  return of_a_scheduler * limits.warp_granularity / warps;
}

std::int64_t blocks_by_shared_memory(const GpuProfile::Limits& limits, std::uint64_t bytes) {
  if (bytes > static_cast<std::uint64_t>(limits.shared_bytes_per_block)) return 0;
  const std::int64_t taken =
      round_up(static_cast<std::int64_t>(bytes) + limits.shared_reserved_bytes, limits.shared_granularity);
  return limits.shared_bytes / taken;
}

}  // namespace

std::string to_string(Occupancy::Limit limit) {
  switch (limit) {
    case Occupancy::Limit::blocks:
      return "blocks";
    case Occupancy::Limit::warps:
      return "warps";
    case Occupancy::Limit::registers:
      return "registers";
    case Occupancy::Limit::shared_memory:
      return "shared memory";
    case Occupancy::Limit::impossible:
      return "impossible";
  }
  return "";
}

Occupancy occupancy_of(const GpuProfile& gpu, std::uint32_t threads_per_block, std::uint32_t registers_per_thread,
                       std::uint64_t shared_bytes_per_block) {
  const GpuProfile::Limits& limits = gpu.limits;
  if (threads_per_block == 0 || threads_per_block > limits.threads_per_block) return {};
  const std::int64_t warps = (threads_per_block + warp_lanes - 1) / warp_lanes;
  const std::array<std::pair<std::int64_t, Occupancy::Limit>, 4> candidates{{
      {blocks_by_warps(limits, warps), Occupancy::Limit::warps},
      {limits.blocks, Occupancy::Limit::blocks},
      {blocks_by_registers(limits, warps, registers_per_thread), Occupancy::Limit::registers},
      {blocks_by_shared_memory(limits, shared_bytes_per_block), Occupancy::Limit::shared_memory},
  }};
  const auto tightest = std::ranges::min_element(candidates, {}, [](const auto& c) { return c.first; });
  if (tightest->first == 0) return {};
  const std::int64_t resident = tightest->first * warps;
  return {tightest->first, resident, static_cast<double>(resident) / static_cast<double>(limits.warps),
          tightest->second};
}

}  // namespace cudal1::vgpu
