#include "device/vgpu/checks/finding.hpp"

#include <fmt/format.h>

namespace cudal1::vgpu {

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
