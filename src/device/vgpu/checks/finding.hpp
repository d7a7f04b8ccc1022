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

  std::uint32_t threads() const { return launch->block[0] * launch->block[1] * launch->block[2]; }
  std::uint32_t warps() const { return (threads() + warp_size - 1) / warp_size; }
  //! As a position among all blocks of the launch.
  std::uint32_t number() const { return (index[2] * launch->grid[1] + index[1]) * launch->grid[0] + index[0]; }
};

//! "reads", "writes" or "changes atomically".
const char* verb_of(AccessKind kind);

Index3 index_in(std::uint32_t linear, const Index3& sizes);
//! "(3, 0, 0)".
std::string text_of(const Index3& index);

//! "byte 12 of 'x', which has 1024 (address 0x1000c)".
std::string describe_global(const GlobalMemory& memory, std::uint64_t address);

[[noreturn]] void report(FaultKind kind, const std::string& message, const BlockPlace& block, const WarpAccess& access,
                         int lane);

template <class Visit>
void for_each_lane(Mask mask, Visit visit) {
  for (; mask != 0; mask &= mask - 1) visit(std::countr_zero(mask));
}

}  // namespace cudal1::vgpu
