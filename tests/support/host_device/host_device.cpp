#include "host_device/host_device.hpp"

#include <signal.h>
#include <unistd.h>

#include "host_device/block_scheduler.hpp"
#include "host_device/host_compiler.hpp"
#include "host_device/host_plan.hpp"

namespace cudal1 {
namespace {

void end_with_fault(int) { _exit(BlockScheduler::fault_exit_code); }

//! On a stack of its own, for the fault may be a kernel that ran past the end of its stack.
void exit_on_faults() {
  static std::byte handler_stack[64 * 1024];
  stack_t stack{};
  stack.ss_sp = handler_stack;
  stack.ss_size = sizeof handler_stack;
  sigaltstack(&stack, nullptr);
  struct sigaction action {};
  action.sa_handler = end_with_fault;
  action.sa_flags = SA_ONSTACK;
  for (const int fault : {SIGSEGV, SIGBUS, SIGILL}) sigaction(fault, &action, nullptr);
}

}  // namespace

HostDevice::HostDevice(const HostQuirks& quirks) : quirks_(quirks) {
  exit_on_faults();
  BlockScheduler::instance();  // its stacks are mapped now, before a sandbox might forbid it
}

DeviceInfo HostDevice::info() const {
  DeviceInfo info;
  info.name = "host";
  info.uuid = "host";
  info.target = HostCompiler::target;
  info.multiprocessors = 1;
  info.l2_bytes = std::int64_t{1} << 20;
  info.memory_bytes = static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  return info;
}

void HostDevice::map_arena(UniqueFd memory, const ArenaLayout& layout) {
  arena_ = {};  // before the next: both might not fit
  arena_ = HostMapping(memory, layout.bytes);
  layout_ = layout;
}

std::unique_ptr<LoadedPlan> HostDevice::load(const Plan& plan, const CompiledModule& module, PrecisionFlags flags) {
  if (arena_.bytes().empty()) throw DeviceError(Status::judge_error, "host device: no arena is mapped", false);
  std::unique_ptr<OpRuntime> op_runtime;
  if (plan.has_op_steps()) {
    OpRuntimeOptions options;
    options.region = arena_.bytes().data() + layout_.op_region_offset;
    options.region_bytes = layout_.op_region_bytes;
    options.precision = flags;
    op_runtime = make_op_runtime(plan, options);
  }
  const std::span arena = arena_.bytes();
  return with_quirks(std::make_unique<HostPlan>(plan, module, arena, std::move(op_runtime)), plan, arena, quirks_);
}

}  // namespace cudal1
