// Runs a whole launch.
#pragma once

#include <span>

#include "device/vgpu/machine/fault.hpp"
#include "device/vgpu/machine/memory.hpp"
#include "device/vgpu/machine/step.hpp"

namespace cudal1::vgpu {

struct Launch {
  const Kernel* kernel = nullptr;
  Index3 grid{1, 1, 1}, block{1, 1, 1};
  std::uint64_t dynamic_shared_bytes = 0;
  std::span<const std::byte> parameters;                     //!< laid out as Kernel::parameter_offsets says
  std::uint64_t most_instructions = std::uint64_t{1} << 32;  //!< of warps, in one block
};

//! Block after block. Throws KernelFault.
void run_grid(const Launch& launch, const GlobalMemory& memory);

}  // namespace cudal1::vgpu
