#include "package/plan_kernels.hpp"

#include "device/cuda/stream_memory.hpp"

namespace cudal1 {
namespace {

constexpr std::int64_t alignment = 256;

bool holds_nothing_between_calls(BufferRole role) {
  return role == BufferRole::intermediate || role == BufferRole::scratch;
}

}  // namespace

void Workspace::place(std::byte* base, std::vector<std::byte*>& addresses) const {
  for (std::size_t i = 0; i < offsets.size(); ++i)
    if (offsets[i] >= 0) addresses[i] = base + offsets[i];
}

Workspace workspace_of(const Plan& plan, const std::vector<Step>& steps) {
  Workspace workspace{std::vector<std::int64_t>(plan.buffers.size(), -1), 0};
  for (const Step& step : steps)
    for (const int index : buffers_of(plan, step)) {
      const Buffer& buffer = plan.buffers[static_cast<std::size_t>(index)];
      std::int64_t& offset = workspace.offsets[static_cast<std::size_t>(index)];
      if (offset >= 0 || buffer.allocated_by_op || !holds_nothing_between_calls(buffer.role)) continue;
      offset = workspace.bytes;
      workspace.bytes += (buffer.meta.span_bytes() + alignment - 1) / alignment * alignment;
    }
  return workspace;
}

void PlanSteps::run(const Plan& plan, const std::vector<std::byte*>& addresses, CUstream stream, const RunOp& run_op,
                    cuda::StepCapture* capture) {
  std::size_t next_launch = 0;
  for (std::size_t i = 0; i < steps->size(); ++i) {
    const CUstream on = capture ? capture->begin(i) : stream;
    if (std::holds_alternative<LaunchStep>((*steps)[i])) {
      cuda::PreparedLaunch& launch = launches[next_launch++];
      launch.set_addresses(addresses);
      launch.launch(on);
    } else if (const auto* zero = std::get_if<ZeroStep>(&(*steps)[i])) {
      const auto buffer = static_cast<std::size_t>(zero->buffer);
      cuda::zero_async(addresses[buffer], plan.buffers[buffer], on);
    } else {
      run_op(i, on);
    }
    if (capture) capture->end(i);
  }
  if (capture) capture->join();
}

PlanKernels::PlanKernels(const Plan& plan)
    : prepare{&plan.prepare, {}, workspace_of(plan, plan.prepare)},
      call{&plan.call, {}, workspace_of(plan, plan.call)} {}

PlanKernels::PlanKernels(const Plan& plan, KernelImages& images, int device) : PlanKernels(plan) {
  const CompiledModule image = images.image_for(cuda::device_info(device).target);
  module = std::make_unique<cuda::Module>(image.binary);
  prepare.launches = cuda::launches_of(plan.prepare, module.get(), image);
  call.launches = cuda::launches_of(plan.call, module.get(), image);
}

}  // namespace cudal1
