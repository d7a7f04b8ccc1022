#include "device/vgpu/machine/unwritten_registers.hpp"

namespace cudal1::vgpu {

std::vector<SlotRange> registers_read_unwritten(const Kernel& kernel, const Liveness& liveness) {
  // Functions that call themselves save all their registers, written or not.
  if (!kernel.frames.empty()) return {{0, static_cast<std::uint32_t>(kernel.registers->declared_bytes())}};
  std::vector<SlotRange> ranges;
  liveness.wanted_at_entry().for_each([&](std::size_t number) {
    const auto& [slot, kind] = liveness.registers()[number];
    ranges.push_back({slot, static_cast<std::uint32_t>(bytes_of_register(kind))});
  });
  return ranges;
}

}  // namespace cudal1::vgpu
