// Runs a whole launch.
#pragma once

#include <span>

#include "device/vgpu/machine/access_observer.hpp"
#include "device/vgpu/machine/counters.hpp"
#include "device/vgpu/machine/fault.hpp"
#include "device/vgpu/machine/memory.hpp"
#include "device/vgpu/machine/printed_text.hpp"
#include "device/vgpu/machine/step.hpp"

namespace cudal1::vgpu {

struct Launch {
  const Kernel* kernel = nullptr;
  Index3 grid{1, 1, 1}, block{1, 1, 1};
  std::uint64_t dynamic_shared_bytes = 0;
  std::span<const std::byte> parameters;                     //!< laid out as Kernel::parameter_offsets says
  std::uint64_t most_instructions = std::uint64_t{1} << 38;  //!< of warps, in the whole launch
  //! In one block: some 20 ms of a multiprocessor's time, some seconds of ours. Endless loops end here.
  std::uint64_t most_block_instructions = std::uint64_t{1} << 27;

  ObserverFactory observers;          //!< makes one for each block; empty: nobody watches
  PrintedText* printed = nullptr;     //!< what it prints goes there, in the order of its blocks
  bool counting = true;               //!< or run_grid returns nothing but the numbers of blocks
  std::uint32_t threads = 0;          //!< of the host; 0: as many as it has cores
  std::uint32_t resident_blocks = 0;  //!< that go on in turns where they wait for each other; 0: as many as a GPU holds
  std::uint64_t sample = 0;           //!< run only so many blocks: the first, the last, others at random; 0: all
  std::uint64_t sample_seed = 0;
};

//! Throws KernelFault, that of the first block that has one.
//!
//! Neither results nor counts depend on how many threads of the host there are. Blocks that only read and write run
//! side by side. Where a kernel has atomics, volatile accesses or the like on global memory, one thread runs them in
//! their order, a block at a time unless it waits for others; so sums of floating-point atomics have a defined order.
KernelCounters run_grid(const Launch& launch, const GlobalMemory& memory);

}  // namespace cudal1::vgpu
