#include "device/vgpu/checks/finding.hpp"

#include <fmt/format.h>

#include "device/vgpu/machine/shared_arrays.hpp"

namespace cudal1::vgpu {

std::string BlockPlace::describe_shared(std::uint64_t address) const {
  return (launch->arrays ? *launch->arrays : SharedArrays()).describe(address, launch->shared_bytes);
}

const char* verb_of(AccessKind kind) {
  switch (kind) {
    case AccessKind::read:
      return "reads";
    case AccessKind::write:
      return "writes";
    case AccessKind::atomic:
      return "changes atomically";
  }
  return "touches";
}

void report(FaultKind kind, const std::string& message, const BlockPlace& block, const WarpAccess& access, int lane) {
  const std::uint32_t thread = access.warp * warp_size + static_cast<std::uint32_t>(lane);
  throw KernelFault(kind, fmt::format("kernel '{}' {}", block.launch->kernel, message), *access.at, block.index,
                    index_in(thread, block.launch->block));
}

}  // namespace cudal1::vgpu
