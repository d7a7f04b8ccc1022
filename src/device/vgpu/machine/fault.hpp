// What a kernel did that no kernel may do.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "device/vgpu/machine/index3.hpp"
#include "device/vgpu/ptx/syntax.hpp"

namespace cudal1::vgpu {

enum class FaultKind {
  out_of_bounds,
  read_only,
  misaligned,
  deadlock,
  too_many_instructions,
  inactive_lane,
  wrong_barrier,
  divergent_barrier,
  trap,
  assertion,
  division_by_zero,
  shared_race,
  global_race,
  uninitialised_read
};

std::string to_string(FaultKind kind);

//! "line 17".
std::string place_of(const ptx::Location& at);

//! Ends the kernel that caused it.
class KernelFault : public Error {
 public:
  KernelFault(FaultKind kind, const std::string& message, ptx::Location at, Index3 block, Index3 thread,
              std::optional<std::uint64_t> address = std::nullopt);
  //! what() without the place.
  std::string description() const;

  FaultKind kind;
  std::string message;
  ptx::Location at;
  Index3 block, thread;
  std::optional<std::uint64_t> address;  //!< in global memory
};

}  // namespace cudal1::vgpu
