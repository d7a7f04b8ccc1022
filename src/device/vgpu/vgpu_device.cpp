#include "device/vgpu/vgpu_device.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "device/op_runtime.hpp"
#include "device/vgpu/vgpu_plan.hpp"

namespace cudal1::vgpu {

VgpuDevice::~VgpuDevice() { unmap_arena(); }

void VgpuDevice::map_arena(UniqueFd memory, const ArenaLayout& layout) {
  unmap_arena();
  void* mapped = ::mmap(nullptr, layout.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory.get(), 0);
  if (mapped == MAP_FAILED)
    throw DeviceError(Status::out_of_memory, fmt::format("cannot map {} bytes: {}", layout.bytes, std::strerror(errno)),
                      false);
  layout_ = layout;
  arena_ = static_cast<std::byte*>(mapped);
}

void VgpuDevice::unmap_arena() {
  if (arena_) ::munmap(arena_, layout_.bytes);
  arena_ = nullptr;
}

std::unique_ptr<LoadedPlan> VgpuDevice::load(const Plan& plan, const CompiledModule& module, PrecisionFlags flags) {
  if (!arena_) throw DeviceError(Status::judge_error, "no arena is mapped", false);
  std::unique_ptr<OpRuntime> ops;
  if (plan.has_op_steps()) ops = make_op_runtime(plan, {.precision = flags});
  return std::make_unique<VgpuPlan>(plan, module, profile_, checks_, std::span(arena_, layout_.bytes), std::move(ops));
}

}  // namespace cudal1::vgpu
