#include "device/vgpu/vgpu_device.hpp"

#include "device/op_runtime.hpp"
#include "device/vgpu/vgpu_plan.hpp"

namespace cudal1::vgpu {

void VgpuDevice::map_arena(UniqueFd memory, const ArenaLayout& layout) {
  arena_ = {};  // before the next: both might not fit
  arena_ = HostMapping(memory, layout.bytes);
}

std::unique_ptr<LoadedPlan> VgpuDevice::load(const Plan& plan, const CompiledModule& module, PrecisionFlags flags) {
  if (arena_.bytes().empty()) throw DeviceError(Status::judge_error, "no arena is mapped", false);
  std::unique_ptr<OpRuntime> ops;
  if (plan.has_op_steps()) ops = make_op_runtime(plan, {.precision = flags});
  return std::make_unique<VgpuPlan>(plan, module, profile_, checks_, arena_.bytes(), std::move(ops), sample_blocks_);
}

}  // namespace cudal1::vgpu
