#include "device/vgpu/machine/fault.hpp"

#include <fmt/format.h>

namespace cudal1::vgpu {
namespace {

std::string text_of(const Index3& index) { return fmt::format("({}, {}, {})", index[0], index[1], index[2]); }

std::string place_of(const ptx::Location& at) {
  return at.line > 0 ? fmt::format("line {}", at.line) : fmt::format("PTX line {}", at.ptx_line);
}

}  // namespace

std::string to_string(FaultKind kind) {
  switch (kind) {
    case FaultKind::out_of_bounds:
      return "out of bounds";
    case FaultKind::misaligned:
      return "misaligned";
    case FaultKind::deadlock:
      return "deadlock";
    case FaultKind::too_many_instructions:
      return "too many instructions";
    case FaultKind::trap:
      return "trap";
    case FaultKind::inactive_lane:
      return "inactive lane";
    case FaultKind::wrong_barrier:
      return "wrong barrier";
  }
  return "unknown";
}

KernelFault::KernelFault(FaultKind its_kind, const std::string& message, ptx::Location place, Index3 its_block,
                         Index3 its_thread)
    : Error(fmt::format("{}: {} ({}, block {}, thread {})", to_string(its_kind), message, place_of(place),
                        text_of(its_block), text_of(its_thread))),
      kind(its_kind),
      at(place),
      block(its_block),
      thread(its_thread) {}

}  // namespace cudal1::vgpu
