// How long one warp takes when nothing holds it up but its own instructions.
#pragma once

#include "device/vgpu/model/memory_traffic.hpp"

namespace cudal1::vgpu {

//! Clocks from the start of a block to its end, for its average warp.
double warp_cycles(const GpuProfile& gpu, const ModelParameters& model, const KernelShape& shape,
                   const KernelCounters& counters, const MemoryTraffic& traffic);

}  // namespace cudal1::vgpu
