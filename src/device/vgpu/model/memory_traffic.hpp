// From what a kernel asked for to what L2 and DRAM had to move.
#pragma once

#include "device/vgpu/machine/counters.hpp"
#include "device/vgpu/model/gpu_profile.hpp"
#include "device/vgpu/model/kernel_shape.hpp"
#include "device/vgpu/model/model_parameters.hpp"
#include "device/vgpu/model/occupancy.hpp"

namespace cudal1::vgpu {

//! Of the whole launch, in bytes; counts of some of its blocks are scaled up.
struct MemoryTraffic {
  double distinct_read = 0, distinct_written = 0;
  double l1 = 0;       //!< sectors that loads and stores asked for
  double l1_hits = 0;  //!< of them, what L1 had
  double l2 = 0;       //!< read and written
  double dram_read = 0, dram_written = 0;

  double dram() const { return dram_read + dram_written; }
};

MemoryTraffic memory_traffic(const GpuProfile& gpu, const ModelParameters& model, const KernelShape& shape,
                             const KernelCounters& counters, const Occupancy& occupancy);

//! From the blocks that were counted to all of the grid.
double scale_of(const KernelShape& shape, const KernelCounters& counters);

}  // namespace cudal1::vgpu
