#include "device/vgpu/vgpu_plan.hpp"

#include <fmt/format.h>

#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

#include "device/vgpu/launch_limits.hpp"

namespace cudal1::vgpu {
namespace {

//! Addresses that kernels see. They do not depend on where the host put the arena, so that a run can be repeated.
constexpr std::uint64_t arena_address = std::uint64_t{0x7000} << 32;
//! Buffers that op steps made lie outside the arena, each in a slot of its own.
constexpr std::uint64_t made_address = std::uint64_t{0x7800} << 32;
constexpr std::uint64_t slot_bytes = std::uint64_t{1} << 37;

//! A kernel that only reads these must not write them.
bool is_constant(BufferRole role, bool preparing) {
  return role == BufferRole::input || role == BufferRole::weight || (role == BufferRole::prepared && !preparing);
}

Index3 index_of(const Dim3& size) {
  return {static_cast<std::uint32_t>(size[0]), static_cast<std::uint32_t>(size[1]),
          static_cast<std::uint32_t>(size[2])};
}

Status status_of(FaultKind kind) {
  switch (kind) {
    case FaultKind::out_of_bounds:
      return Status::out_of_bounds;
    case FaultKind::deadlock:
    case FaultKind::too_many_instructions:
      return Status::timeout;
    default:
      return Status::illegal_access;
  }
}

std::uint64_t bytes_of(const Buffer& buffer) { return static_cast<std::uint64_t>(buffer.meta.span_bytes()); }

}  // namespace

VgpuPlan::VgpuPlan(Plan plan, const CompiledModule& module, const GpuProfile& gpu, std::span<std::byte> arena,
                   std::unique_ptr<OpRuntime> ops)
    : plan_(std::move(plan)), gpu_(gpu), arena_(arena), ops_(std::move(ops)) {
  if (plan_.has_launches()) module_ = std::make_unique<VgpuModule>(module);
  check_launches(plan_.prepare);
  check_launches(plan_.call);
}

void VgpuPlan::check_launches(const std::vector<cudal1::Step>& steps) const {
  for (const cudal1::Step& step : steps)
    if (const auto* launch = std::get_if<LaunchStep>(&step)) check_launch(*launch, module_->find(launch->kernel));
}

void VgpuPlan::place(const BufferOffsets& offsets) {
  if (offsets.size() != plan_.buffers.size())
    throw DeviceError(Status::judge_error, "one offset for every buffer is needed", false);
  for (std::size_t i = 0; i < offsets.size(); ++i)
    if (offsets[i] != no_offset &&
        (offsets[i] > arena_.size() || bytes_of(plan_.buffers[i]) > arena_.size() - offsets[i]))
      throw DeviceError(Status::judge_error, fmt::format("buffer {} lies outside the arena", plan_.buffers[i].name),
                        false);
  offsets_ = offsets;
}

void VgpuPlan::prepare(const BufferOffsets& offsets) {
  place(offsets);
  CallPredictor ignored(gpu_, plan_);
  run_steps(plan_.prepare, true, ignored);
}

CallTimes VgpuPlan::call(const BufferOffsets& offsets, const CallOptions&) {
  place(offsets);
  if (ops_) {
    std::vector<void*> addresses(plan_.buffers.size());
    for (std::size_t i = 0; i < addresses.size(); ++i)
      if (!plan_.buffers[i].allocated_by_op && offsets[i] != no_offset) addresses[i] = arena_.data() + offsets[i];
    ops_->begin(addresses, 0);
  }
  CallPredictor predictor(gpu_, plan_);
  run_steps(plan_.call, false, predictor);
  copy_op_outputs(offsets);
  if (ops_) ops_->end();
  const double milliseconds = predictor.report().total_ms();
  return {.device_ms = milliseconds,
          .host_ms = milliseconds,
          .gate = Gate::held,
          .findings = {},
          .profile = to_json(predictor.report()).dump()};
}

void VgpuPlan::run_steps(const std::vector<cudal1::Step>& steps, bool preparing, CallPredictor& predictor) {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (const auto* launch = std::get_if<LaunchStep>(&steps[i])) {
      predictor.add_launch(*launch, *module_->find(launch->kernel), run_launch(*launch, preparing));
    } else if (const auto* zero = std::get_if<ZeroStep>(&steps[i])) {
      run_zero(*zero);
      predictor.add_zero(*zero);
    } else {
      const auto& op = std::get<OpStep>(steps[i]);
      ops_->run(op, i);
      predictor.add_op(op);
    }
  }
}

void VgpuPlan::run_zero(const ZeroStep& step) {
  const Buffer& buffer = plan_.buffers[static_cast<std::size_t>(step.buffer)];
  std::memset(host_address(step.buffer), 0, bytes_of(buffer));
}

KernelCounters VgpuPlan::run_launch(const LaunchStep& step, bool preparing) {
  const Kernel& kernel = module_->find(step.kernel)->kernel;
  const std::vector<std::byte> parameters = parameters_of(step, kernel);
  Launch launch;
  launch.kernel = &kernel;
  launch.grid = index_of(step.grid);
  launch.block = index_of(step.block);
  launch.dynamic_shared_bytes = static_cast<std::uint64_t>(step.shared_bytes);
  launch.parameters = parameters;
  try {
    return run_grid(launch, memory_of(step, preparing));
  } catch (const KernelFault& fault) {
    refuse(fault, step);
  }
}

//! A tensor is its address, a number its bits.
std::vector<std::byte> VgpuPlan::parameters_of(const LaunchStep& step, const Kernel& kernel) {
  std::vector<std::byte> parameters(kernel.parameter_bytes);
  for (std::size_t i = 0; i < step.args.size(); ++i) {
    const ptx::Variable& parameter = kernel.parameters[i];
    std::uint64_t bits = 0;
    if (const auto* tensor = std::get_if<TensorRef>(&step.args[i]))
      bits = device_address(tensor->buffer) + static_cast<std::uint64_t>(tensor->byte_offset);
    else
      bits = std::get<ScalarArgument>(step.args[i]).bits;
    std::memcpy(parameters.data() + kernel.parameter_offsets.at(parameter.name), &bits, parameter.bytes());
  }
  return parameters;
}

//! The buffers that the kernel was given, and no others: it has no right to know where those lie.
GlobalMemory VgpuPlan::memory_of(const LaunchStep& step, bool preparing) {
  GlobalMemory memory;
  std::set<int> given;
  for (const KernelArgument& argument : step.args)
    if (const auto* tensor = std::get_if<TensorRef>(&argument)) given.insert(tensor->buffer);
  for (const int id : given) {
    const Buffer& buffer = plan_.buffers[static_cast<std::size_t>(id)];
    memory.add(
        {device_address(id), bytes_of(buffer), host_address(id), buffer.name, !is_constant(buffer.role, preparing)});
  }
  module_->add_tables(memory);
  return memory;
}

std::byte* VgpuPlan::host_address(int buffer) {
  const auto index = static_cast<std::size_t>(buffer);
  if (plan_.buffers[index].allocated_by_op) return static_cast<std::byte*>(ops_->address_of(buffer));
  if (offsets_[index] == no_offset)
    throw DeviceError(Status::judge_error, fmt::format("no address for buffer {}", plan_.buffers[index].name), false);
  return arena_.data() + offsets_[index];
}

std::uint64_t VgpuPlan::device_address(int buffer) const {
  const auto index = static_cast<std::size_t>(buffer);
  if (plan_.buffers[index].allocated_by_op) return made_address + index * slot_bytes;
  return arena_address + offsets_[index];
}

void VgpuPlan::copy_op_outputs(const BufferOffsets& offsets) {
  for (std::size_t i = 0; i < offsets.size(); ++i)
    if (plan_.buffers[i].allocated_by_op && offsets[i] != no_offset)
      std::memcpy(arena_.data() + offsets[i], host_address(static_cast<int>(i)), bytes_of(plan_.buffers[i]));
}

void VgpuPlan::refuse(const KernelFault& fault, const LaunchStep& step) const {
  throw DeviceError(status_of(fault.kind), fmt::format("kernel '{}': {}", step.kernel, fault.what()), false,
                    {fault.at.line, fault.at.column});
}

}  // namespace cudal1::vgpu
