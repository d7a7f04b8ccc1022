#include "device/vgpu/model/warp_latency.hpp"

#include <algorithm>

namespace cudal1::vgpu {
namespace {

//! A special function has its own unit, so that what waits for it waits longer.
double arithmetic_cycles(const GpuProfile& gpu, const ModelParameters& model, const KernelShape& shape,
                         const KernelCounters& counters, double warps) {
  const auto each = [&](Pipe pipe) {
    return static_cast<double>(counters.issued()[static_cast<std::size_t>(pipe)]) / warps;
  };
  const double plain = each(Pipe::single) + each(Pipe::half) + each(Pipe::twofold) + each(Pipe::conversion) +
                       each(Pipe::control) + each(Pipe::tensor) + each(Pipe::integer) * model.integer_weight;
  const double together = std::clamp(shape.traits.parallelism.arithmetic, 1.0, model.instruction_parallelism_most);
  return (plain * gpu.latency.arithmetic + each(Pipe::special) * gpu.latency.special) / together;
}

//! Of a load, by where its bytes were found.
double load_latency(const GpuProfile& gpu, const ModelParameters& model, const MemoryTraffic& traffic) {
  const double reads = std::max(traffic.l2 + traffic.l1_hits, 1.0);
  const double l1 = std::min(traffic.l1_hits / reads, 1.0);
  const double dram = std::min(traffic.dram_read / reads, 1 - l1);
  return l1 * gpu.latency.l1 + dram * gpu.latency.dram * model.dram_latency_weight + (1 - l1 - dram) * gpu.latency.l2;
}

double memory_cycles(const GpuProfile& gpu, const ModelParameters& model, const KernelShape& shape,
                     const KernelCounters& counters, const MemoryTraffic& traffic, double warps) {
  const LoadParallelism& together = shape.traits.parallelism;
  const double waited = static_cast<double>(counters.global_loads.requests + counters.global_atomics.requests) / warps;
  const double global =
      waited / std::min(together.global, model.loads_in_flight_most) * load_latency(gpu, model, traffic);
  // The addresses of local memory are known early.
  const double local =
      static_cast<double>(counters.local_accesses.requests) / warps / model.loads_in_flight_most * gpu.latency.l1;
  const double shared = static_cast<double>(counters.shared_requests) / shape.traits.shared_load_width / warps /
                        std::min(together.shared, model.loads_in_flight_most) * gpu.latency.shared *
                        model.shared_latency_weight;
  return global + local + shared;
}

}  // namespace

double warp_cycles(const GpuProfile& gpu, const ModelParameters& model, const KernelShape& shape,
                   const KernelCounters& counters, const MemoryTraffic& traffic) {
  const double counted_blocks = static_cast<double>(counters.blocks > 0 ? counters.blocks : shape.blocks());
  const double warps = std::max(counted_blocks * shape.warps_per_block(), 1.0);
  const double waits = arithmetic_cycles(gpu, model, shape, counters, warps) +
                       memory_cycles(gpu, model, shape, counters, traffic, warps) +
                       static_cast<double>(counters.barriers) / warps * model.barrier_cycles;
  return model.block_start_cycles + model.warp_dispatch_cycles * shape.warps_per_block() + model.latency_weight * waits;
}

}  // namespace cudal1::vgpu
