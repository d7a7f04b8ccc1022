// Which checks run, and what they must know about a launch.
#pragma once

#include <string>

#include "device/vgpu/machine/fault.hpp"
#include "device/vgpu/machine/memory.hpp"

namespace cudal1::vgpu {

class ScratchMarks;
class SharedArrays;

struct CheckOptions {
  bool shared_races = true, global_races = true, uninitialised = true;
};

//! "all", "none", or some of "shared-races", "global-races" and "uninitialised" with commas between them. Throws Error.
CheckOptions checks_named(const std::string& names);

struct CheckedLaunch {
  std::string kernel;
  Index3 grid{1, 1, 1}, block{1, 1, 1};  //!< sizes
  std::uint64_t shared_bytes = 0;        //!< of a block
  std::uint64_t local_bytes = 0;         //!< of a thread
  const GlobalMemory* memory = nullptr;
  ScratchMarks* scratch = nullptr;  //!< buffers that hold nothing yet; it outlives the launch. Null: there are none
  const SharedArrays* arrays = nullptr;  //!< of the kernel. Null: they have no names
};

}  // namespace cudal1::vgpu
