// How a kernel was launched, as the timing model sees it.
#pragma once

#include <cstdint>

#include "device/vgpu/machine/fault.hpp"
#include "device/vgpu/model/kernel_traits.hpp"

namespace cudal1::vgpu {

struct KernelShape {
  Index3 grid{1, 1, 1}, block{1, 1, 1};
  std::uint64_t shared_bytes = 0;  //!< of a block, static and dynamic
  std::uint64_t local_bytes = 0;   //!< of a thread: arrays with computed indices
  bool in_graph = false;           //!< launched by a CUDA Graph
  KernelTraits traits;             //!< registers, what overlaps, which mma
  std::uint64_t cached_bytes = 0;  //!< of what it reads that an earlier step left in L2
  std::uint64_t buffer_bytes = 0;  //!< of all buffers it was given, the most it can touch; 0: unknown

  std::uint64_t blocks() const { return std::uint64_t{grid[0]} * grid[1] * grid[2]; }
  std::uint32_t threads_per_block() const { return block[0] * block[1] * block[2]; }
  std::uint32_t warps_per_block() const { return (threads_per_block() + 31) / 32; }
};

}  // namespace cudal1::vgpu
