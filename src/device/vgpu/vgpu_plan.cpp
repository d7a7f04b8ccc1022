#include "device/vgpu/vgpu_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "device/vgpu/launch_limits.hpp"
#include "program/step_branches.hpp"

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

//! Branches of a graph in an order that the plan's author did not have in mind: a GPU may take any.
std::vector<std::size_t> run_order(const Plan& plan) {
  if (!plan.branches.empty()) return StepOrder(plan).unlike_the_plan();
  std::vector<std::size_t> order(plan.call.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  return order;
}

std::uint64_t bytes_of(const Buffer& buffer) { return static_cast<std::uint64_t>(buffer.meta.span_bytes()); }

}  // namespace

VgpuPlan::VgpuPlan(Plan plan, const CompiledModule& module, const GpuProfile& gpu, const CheckOptions& checks,
                   std::span<std::byte> arena, std::unique_ptr<OpRuntime> ops, std::uint64_t sample_blocks)
    : plan_(std::move(plan)),
      call_order_(run_order(plan_)),
      gpu_(gpu),
      checks_(checks),
      arena_(arena),
      ops_(std::move(ops)),
      sample_blocks_(sample_blocks) {
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
  findings_.clear();
  printed_ = {};
  forget_written(true);
  begin_ops();
  prepare_steps();
  if (ops_) ops_->end();
}

CallTimes VgpuPlan::call(const BufferOffsets& offsets, const CallOptions&) {
  place(offsets);
  begin_ops();
  CallPredictor predictor(gpu_, plan_);
  forget_written(false);
  call_steps(predictor);
  watching_ = false;  // the first call is enough: checks make a call several times longer
  copy_op_outputs(offsets);
  if (ops_) ops_->end();
  const ProfileReport report = predictor.report();
  const double milliseconds = report.total_ms();
  return {.device_ms = milliseconds,
          .host_ms = milliseconds,
          .gate = Gate::held,
          .findings = std::exchange(findings_, {}),  // also those of preparing
          .printed = std::exchange(printed_, {}).text(),
          .profile = to_json(report).dump()};
}

void VgpuPlan::begin_ops() {
  if (!ops_) return;
  std::vector<void*> addresses(plan_.buffers.size());
  for (std::size_t i = 0; i < addresses.size(); ++i)
    if (!plan_.buffers[i].allocated_by_op && offsets_[i] != no_offset) addresses[i] = arena_.data() + offsets_[i];
  ops_->begin(addresses, 0);
}

//! How long preparing takes nobody asks.
void VgpuPlan::prepare_steps() {
  for (std::size_t i = 0; i < plan_.prepare.size(); ++i) run_step(plan_.prepare, i);
}

void VgpuPlan::call_steps(CallPredictor& predictor) {
  std::vector<KernelCounters> counters(plan_.call.size());
  for (const std::size_t i : call_order_) counters[i] = run_step(plan_.call, i);
  for (std::size_t i = 0; i < plan_.call.size(); ++i) {
    if (const auto* launch = std::get_if<LaunchStep>(&plan_.call[i]))
      predictor.add_launch(*launch, *module_->find(launch->kernel), counters[i]);
    else if (const auto* zero = std::get_if<ZeroStep>(&plan_.call[i]))
      predictor.add_zero(*zero);
    else
      predictor.add_op(std::get<OpStep>(plan_.call[i]));
  }
}

//! What a launch counts; of other steps nothing.
KernelCounters VgpuPlan::run_step(const std::vector<cudal1::Step>& steps, std::size_t index) {
  const bool preparing = &steps == &plan_.prepare;
  if (const auto* launch = std::get_if<LaunchStep>(&steps[index])) {
    const bool sampled = !preparing && is_sample_enough(index);
    return run_launch(*launch, preparing, sampled ? sample_blocks_ : 0);
  }
  if (const auto* zero = std::get_if<ZeroStep>(&steps[index])) {
    run_zero(*zero);
  } else {
    const auto& op = std::get<OpStep>(steps[index]);
    preparing ? ops_->prepare(op, index) : ops_->run(op, index);
    note_written_by(op);
  }
  return {};
}

void VgpuPlan::note_written_by(const OpStep& step) {
  for (const ValueId id : step.node.outputs) {
    const int buffer = plan_.values[static_cast<std::size_t>(id)].buffer;
    if (buffer < 0 || plan_.buffers[static_cast<std::size_t>(buffer)].allocated_by_op) continue;
    written_.set_written(device_address(buffer), bytes_of(plan_.buffers[static_cast<std::size_t>(buffer)]));
  }
}

void VgpuPlan::run_zero(const ZeroStep& step) {
  const Buffer& buffer = plan_.buffers[static_cast<std::size_t>(step.buffer)];
  std::memset(host_address(step.buffer), 0, bytes_of(buffer));
  if (!buffer.allocated_by_op) written_.set_written(device_address(step.buffer), bytes_of(buffer));
}

//! No later step sees what this launch writes, and none of its blocks waits for what another one does.
bool VgpuPlan::is_sample_enough(std::size_t call_step) const {
  const auto& launch = std::get<LaunchStep>(plan_.call[call_step]);
  if (module_->find(launch.kernel)->kernel.blocks_may_meet) return false;
  std::vector<int> written = buffers_of(plan_, launch);
  std::erase_if(written, [&](int b) { return is_constant(plan_.buffers[static_cast<std::size_t>(b)].role, false); });
  for (std::size_t later = call_step + 1; later < plan_.call.size(); ++later)
    for (const int buffer : buffers_of(plan_, plan_.call[later]))
      if (std::ranges::count(written, buffer) > 0) return false;
  return true;
}

KernelCounters VgpuPlan::run_launch(const LaunchStep& step, bool preparing, std::uint64_t sample_blocks) {
  const Kernel& kernel = module_->find(step.kernel)->kernel;
  const std::vector<std::byte> parameters = parameters_of(step, kernel);
  Launch launch;
  launch.kernel = &kernel;
  launch.grid = index_of(step.grid);
  launch.block = index_of(step.block);
  launch.dynamic_shared_bytes = static_cast<std::uint64_t>(step.shared_bytes);
  launch.parameters = parameters;
  launch.sample = sample_blocks;
  const GlobalMemory memory = memory_of(step, preparing);
  FindingLog log;
  if (watching_) launch.printed = &printed_;
  if (watching_) launch.observers = log.watch(checks_of(launch, step.kernel, memory), launch.grid);
  try {
    const KernelCounters counters = run_grid(launch, memory);
    if (log.first()) note(*log.first());
    return counters;
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
  for (const int id : buffers_of(plan_, step)) {
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

ObserverFactory VgpuPlan::checks_of(const Launch& launch, const std::string& kernel, const GlobalMemory& memory) {
  CheckedLaunch checked;
  checked.kernel = kernel;
  checked.grid = launch.grid;
  checked.block = launch.block;
  checked.shared_bytes = launch.kernel->static_shared_bytes + launch.dynamic_shared_bytes;
  checked.local_bytes = launch.kernel->local_bytes;
  checked.memory = &memory;
  checked.scratch = &written_;
  checked.arrays = &launch.kernel->shared_arrays;
  return make_observers(checks_, checked);
}

//! One line of a program has one finding, however many launches show it.
void VgpuPlan::note(const KernelFault& fault) {
  const SourcePosition at{fault.at.line, fault.at.column};
  const bool known = std::ranges::any_of(findings_, [&](const Finding& finding) { return finding.at == at; });
  if (!known) findings_.push_back({fault.description(), at});
}

//! What a call finds poisoned it must write before it reads it; so must who prepares.
void VgpuPlan::forget_written(bool preparing) {
  written_ = ScratchMarks();
  if (!watching_) return;
  for (std::size_t i = 0; i < plan_.buffers.size(); ++i) {
    const Buffer& buffer = plan_.buffers[i];
    const bool empty = is_written_by_call(buffer.role) || (preparing && buffer.role == BufferRole::prepared);
    if (empty && !buffer.allocated_by_op && offsets_[i] != no_offset && bytes_of(buffer) > 0)
      written_.add_uninitialised(arena_address + offsets_[i], bytes_of(buffer));
  }
}

void VgpuPlan::refuse(const KernelFault& fault, const LaunchStep& step) const {
  throw DeviceError(status_of(fault), fmt::format("kernel '{}': {}", step.kernel, fault.description()), false,
                    {fault.at.line, fault.at.column}, printed_.text());
}

Status VgpuPlan::status_of(const KernelFault& fault) const {
  switch (fault.kind) {
    case FaultKind::out_of_bounds:
      return fault.address && is_near(*fault.address) ? Status::out_of_bounds : Status::illegal_access;
    case FaultKind::read_only:
      return Status::modified_input;
    case FaultKind::misaligned:
    case FaultKind::trap:
    case FaultKind::assertion:
      return Status::illegal_access;
    case FaultKind::deadlock:
    case FaultKind::too_many_instructions:
      return Status::timeout;
    default:
      return Status::unsafe;
  }
}

//! A real GPU has other memory there, and does not notice.
bool VgpuPlan::is_near(std::uint64_t address) const {
  const std::uint64_t made_end = made_address + plan_.buffers.size() * slot_bytes;
  return (address >= arena_address && address < arena_address + arena_.size()) ||
         (address >= made_address && address < made_end);
}

}  // namespace cudal1::vgpu
