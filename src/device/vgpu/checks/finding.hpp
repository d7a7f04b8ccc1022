// How a check says what it found.
#pragma once

#include <string>

#include "device/vgpu/checks/check_options.hpp"
#include "device/vgpu/machine/warp_access.hpp"

namespace cudal1::vgpu {

//! Where in the launch a block is, for messages.
struct BlockPlace {
  const CheckedLaunch* launch = nullptr;
  Index3 index{0, 0, 0};

  std::uint32_t threads() const { return count_of<std::uint32_t>(launch->block); }
  std::uint32_t warps() const { return (threads() + warp_size - 1) / warp_size; }
  //! As a position among all blocks of the launch.
  std::uint32_t number() const { return number_in<std::uint32_t>(index, launch->grid); }
  //! "byte 508 of shared memory (byte 124 of 'tile', 128 bytes)".
  std::string describe_shared(std::uint64_t address) const;
};

//! "reads", "writes" or "changes atomically".
const char* verb_of(AccessKind kind);

[[noreturn]] void report(FaultKind kind, const std::string& message, const BlockPlace& block, const WarpAccess& access,
                         int lane);

}  // namespace cudal1::vgpu
