#include "device/vgpu/machine/fault.hpp"

#include <fmt/format.h>

namespace cudal1::vgpu {

std::string text_of(const Index3& index) { return fmt::format("({}, {}, {})", index[0], index[1], index[2]); }

std::string place_of(const ptx::Location& at) {
  return at.line > 0 ? fmt::format("line {}", at.line) : fmt::format("PTX line {}", at.ptx_line);
}

std::string to_string(FaultKind kind) {
  switch (kind) {
    case FaultKind::out_of_bounds:
      return "out of bounds";
    case FaultKind::read_only:
      return "read-only memory";
    case FaultKind::misaligned:
      return "misaligned";
    case FaultKind::deadlock:
      return "deadlock";
    case FaultKind::too_many_instructions:
      return "too many instructions";
    case FaultKind::trap:
      return "trap";
    case FaultKind::assertion:
      return "assertion";
    case FaultKind::inactive_lane:
      return "inactive lane";
    case FaultKind::wrong_barrier:
      return "wrong barrier";
    case FaultKind::divergent_barrier:
      return "divergent barrier";
    case FaultKind::division_by_zero:
      return "division by zero";
    case FaultKind::shared_race:
      return "race in shared memory";
    case FaultKind::global_race:
      return "race in global memory";
    case FaultKind::uninitialised_read:
      return "uninitialised read";
  }
  return "unknown";
}

KernelFault::KernelFault(FaultKind its_kind, const std::string& its_message, ptx::Location place, Index3 its_block,
                         Index3 its_thread, std::optional<std::uint64_t> its_address)
    : Error(fmt::format("{}: {} ({}, block {}, thread {})", to_string(its_kind), its_message, place_of(place),
                        text_of(its_block), text_of(its_thread))),
      kind(its_kind),
      message(its_message),
      at(place),
      block(its_block),
      thread(its_thread),
      address(its_address) {}

std::string KernelFault::description() const {
  return fmt::format("{}: {} (block {}, thread {})", to_string(kind), message, text_of(block), text_of(thread));
}

}  // namespace cudal1::vgpu
