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

//! What is written to DRAM while so much is read from there and written. L2 keeps half of itself for what was written,
//! and part of that goes on to DRAM in time. What others wrote before leaves L2 for what is read and written now.
double written_back(const GpuProfile& gpu, const ModelParameters& model, double read, double written);

//! From the blocks that were counted to all of the grid.
double scale_of(const KernelShape& shape, const KernelCounters& counters);

}  // namespace cudal1::vgpu
