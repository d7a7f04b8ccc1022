// Kernels that nobody ran: shapes and counters as such kernels would have them.
#pragma once

#include "device/vgpu/machine/counters.hpp"
#include "device/vgpu/model/kernel_shape.hpp"

namespace cudal1::vgpu {

struct MadeUpKernel {
  KernelShape shape;
  KernelCounters counters;

  std::uint64_t& instructions(Pipe pipe) { return counters.instructions[static_cast<std::size_t>(pipe)]; }
};

//! y = f(x) on floats, 16 bytes a thread and access: `bytes` read and as many written.
inline MadeUpKernel made_up_copy(std::uint32_t blocks, std::uint64_t bytes) {
  MadeUpKernel kernel;
  kernel.shape.grid = {blocks, 1, 1};
  kernel.shape.block = {256, 1, 1};
  kernel.shape.traits.parallelism = {4, 4, 2};
  kernel.counters.grid_blocks = kernel.counters.blocks = blocks;
  kernel.counters.global_loads = kernel.counters.global_stores = {bytes / 512, bytes / 32, bytes};
  kernel.counters.distinct_bytes_read = kernel.counters.distinct_bytes_written = bytes;
  kernel.counters.block_bytes_read = bytes;
  kernel.instructions(Pipe::memory) = bytes / 256;
  kernel.instructions(Pipe::integer) = bytes / 128;
  kernel.instructions(Pipe::single) = bytes / 128;
  kernel.counters.issue_clocks = kernel.counters.warp_instructions();
  kernel.counters.global_clocks = kernel.counters.global_loads.requests * 75;  // four loads on their way
  kernel.counters.lanes = 32 * kernel.counters.warp_instructions();
  return kernel;
}

}  // namespace cudal1::vgpu
