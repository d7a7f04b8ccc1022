// What a kernel did that no kernel may do.
#pragma once

#include <array>
#include <string>

#include "base/result.hpp"
#include "device/vgpu/ptx/syntax.hpp"

namespace cudal1::vgpu {

enum class FaultKind { out_of_bounds, misaligned, deadlock, too_many_instructions, inactive_lane, wrong_barrier, trap };

std::string to_string(FaultKind kind);

using Index3 = std::array<std::uint32_t, 3>;  //!< x, y, z

//! Ends the kernel that caused it.
class KernelFault : public Error {
 public:
  KernelFault(FaultKind kind, const std::string& message, ptx::Location at, Index3 block, Index3 thread);
  FaultKind kind;
  ptx::Location at;
  Index3 block, thread;
};

}  // namespace cudal1::vgpu
