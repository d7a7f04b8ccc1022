#include "host_device/host_plan.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <chrono>
#include <cstring>

#include "base/files.hpp"

namespace cudal1 {
namespace {

using cudal1_host::Index3;
using Clock = std::chrono::steady_clock;

template <class... Visitors>
struct Overloaded : Visitors... {
  using Visitors::operator()...;
};

[[noreturn]] void refuse_launch(const LaunchStep& step, const std::string& reason) {
  throw DeviceError(Status::launch_error, fmt::format("launch of {}: {}", step.kernel, reason), false, step.at);
}

void check_dimensions(const LaunchStep& step, const Dim3& dimensions, const Dim3& limits, const char* what) {
  for (int axis = 0; axis < 3; ++axis)
    if (dimensions[axis] < 1 || dimensions[axis] > limits[axis])
      refuse_launch(step, fmt::format("{} dimension {} is {}, the device takes 1 to {}", what, "xyz"[axis],
                                      dimensions[axis], limits[axis]));
}

//! The limits of an H200, so that a program which cannot be launched there cannot be launched here.
void check_limits(const LaunchStep& step) {
  check_dimensions(step, step.grid, {2147483647, 65535, 65535}, "grid");
  check_dimensions(step, step.block, {1024, 1024, 64}, "block");
  const std::int64_t threads = step.block[0] * step.block[1] * step.block[2];
  if (threads > BlockScheduler::max_threads)
    refuse_launch(step,
                  fmt::format("a block of {} threads, the device takes {}", threads, BlockScheduler::max_threads));
  constexpr auto max_shared_bytes = static_cast<std::int64_t>(BlockScheduler::max_shared_bytes);
  if (step.shared_bytes < 0 || step.shared_bytes > max_shared_bytes)
    refuse_launch(step,
                  fmt::format("{} bytes of shared memory, the device has {}", step.shared_bytes, max_shared_bytes));
  if (!step.cluster) return;
  check_dimensions(step, *step.cluster, {8, 8, 8}, "cluster");
  for (int axis = 0; axis < 3; ++axis)
    if (step.grid[axis] % (*step.cluster)[axis] != 0) refuse_launch(step, "the grid is no multiple of the cluster");
}

std::size_t size_of_argument(const KernelArgument& argument) {
  const auto* scalar = std::get_if<ScalarArgument>(&argument);
  return scalar != nullptr ? static_cast<std::size_t>(scalar->size_bytes) : sizeof(void*);
}

void check_parameters(const LaunchStep& step, const cudal1_host::Kernel& kernel) {
  if (static_cast<std::size_t>(kernel.parameter_count) != step.args.size())
    refuse_launch(step, fmt::format("{} arguments, the kernel has {}", step.args.size(), kernel.parameter_count));
  for (std::size_t i = 0; i < step.args.size(); ++i)
    if (size_of_argument(step.args[i]) != kernel.parameter_bytes[i])
      refuse_launch(step, fmt::format("argument {} has {} bytes, the kernel's parameter {}", i + 1,
                                      size_of_argument(step.args[i]), kernel.parameter_bytes[i]));
}

Index3 to_index(const Dim3& dimensions) {
  return {static_cast<unsigned>(dimensions[0]), static_cast<unsigned>(dimensions[1]),
          static_cast<unsigned>(dimensions[2])};
}

//! The thread-local variables of a loaded library: see __shared__ in cuda_on_host.hpp.
std::span<std::byte> thread_local_memory(void* library) {
  struct Search {
    ElfW(Addr) base;
    std::span<std::byte> found;
  } search{};
  link_map* map = nullptr;
  if (dlinfo(library, RTLD_DI_LINKMAP, &map) != 0) return {};
  search.base = map->l_addr;
  const auto visit = [](dl_phdr_info* info, std::size_t, void* context) {
    auto& wanted = *static_cast<Search*>(context);
    if (info->dlpi_addr != wanted.base || info->dlpi_tls_data == nullptr) return 0;
    for (int i = 0; i < info->dlpi_phnum; ++i)
      if (info->dlpi_phdr[i].p_type == PT_TLS)
        wanted.found = {static_cast<std::byte*>(info->dlpi_tls_data), info->dlpi_phdr[i].p_memsz};
    return 1;
  };
  dl_iterate_phdr(visit, &search);
  return search.found;
}

//! Made up: a processor has none of these.
LaunchResources resources_of(const LaunchStep& step) { return {40, 0, step.shared_bytes, 3, 0.75}; }

}  // namespace

HostLibrary::HostLibrary(const std::string& binary) : memory_(make_sealed_memory("program", binary)) {
  handle_ = dlopen(fmt::format("/proc/self/fd/{}", memory_.get()).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle_ == nullptr) throw DeviceError(Status::judge_error, fmt::format("host device: {}", dlerror()), false);
  using Connect = void (*)(const cudal1_host::Services*);
  const auto connect = reinterpret_cast<Connect>(dlsym(handle_, "cudal1_connect"));
  if (connect == nullptr) throw DeviceError(Status::judge_error, "host device: the module is not for it", false);
  connect(&BlockScheduler::services());
  static_shared_ = thread_local_memory(handle_);
}

HostLibrary::~HostLibrary() {
  if (handle_ != nullptr) dlclose(handle_);
}

const cudal1_host::Kernel* HostLibrary::kernel(const std::string& symbol) const {
  const void* found = dlsym(handle_, symbol.c_str());
  if (found == nullptr) throw DeviceError(Status::launch_error, "no symbol " + symbol + " in the module", false);
  return static_cast<const cudal1_host::Kernel*>(found);
}

HostPlan::HostPlan(Plan plan, const CompiledModule& module, std::span<std::byte> arena,
                   std::unique_ptr<OpRuntime> op_runtime)
    : plan_(std::move(plan)), arena_(arena), op_runtime_(std::move(op_runtime)) {
  if (!plan_.has_launches()) return;
  library_ = std::make_unique<HostLibrary>(module.binary);
  for (const auto& [kernel, symbol] : module.symbols) kernels_[kernel] = library_->kernel(symbol);
  for (const auto* steps : {&plan_.prepare, &plan_.call}) {
    for (const Step& step : *steps) {
      const auto* launch = std::get_if<LaunchStep>(&step);
      if (launch == nullptr) continue;
      if (!kernels_.contains(launch->kernel)) refuse_launch(*launch, "the module has no such kernel");
      check_limits(*launch);
      check_parameters(*launch, *kernels_.at(launch->kernel));
    }
  }
}

void HostPlan::prepare(const BufferOffsets& offsets) {
  set_addresses(offsets);
  run_steps(plan_.prepare);
}

CallTimes HostPlan::call(const BufferOffsets& offsets, const CallOptions& options) {
  set_addresses(offsets);
  const auto start = Clock::now();
  if (op_runtime_) op_runtime_->begin(addresses_, 0);
  StepTimes steps = run_steps(plan_.call);
  const double milliseconds = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  copy_op_outputs(offsets);
  if (op_runtime_) op_runtime_->end();
  CallTimes times;
  times.device_ms = times.host_ms = milliseconds;
  if (options.time_steps) times.steps = std::move(steps);
  return times;
}

void HostPlan::set_addresses(const BufferOffsets& offsets) {
  if (offsets.size() != plan_.buffers.size())
    throw DeviceError(Status::judge_error, "host device: one offset for every buffer is needed", false);
  addresses_.assign(plan_.buffers.size(), nullptr);
  for (std::size_t i = 0; i < offsets.size(); ++i)
    if (!plan_.buffers[i].allocated_by_op && offsets[i] != no_offset)
      addresses_[i] = arena_address(plan_.buffers[i], offsets[i]);
}

StepTimes HostPlan::run_steps(const std::vector<Step>& steps) {
  StepTimes times;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const auto start = Clock::now();
    std::visit(
        Overloaded{[&](const OpStep& step) { op_runtime_->run(step, i); }, [&](const auto& step) { run_step(step); }},
        steps[i]);
    StepTime& time = times.steps.emplace_back();
    time.milliseconds = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
    if (const auto* launch = std::get_if<LaunchStep>(&steps[i])) time.resources = resources_of(*launch);
  }
  return times;
}

void HostPlan::run_step(const LaunchStep& step) {
  std::vector<std::uint64_t> values;
  values.reserve(step.args.size());
  std::vector<void*> arguments;
  for (const KernelArgument& argument : step.args) {
    if (const auto* tensor = std::get_if<TensorRef>(&argument))
      values.push_back(reinterpret_cast<std::uintptr_t>(address_of(tensor->buffer)) +
                       static_cast<std::uint64_t>(tensor->byte_offset));
    else
      values.push_back(std::get<ScalarArgument>(argument).bits);
    arguments.push_back(&values.back());
  }
  BlockScheduler::instance().run({kernels_.at(step.kernel), arguments.data(), to_index(step.grid), to_index(step.block),
                                  static_cast<std::size_t>(step.shared_bytes), library_->static_shared()});
}

void HostPlan::run_step(const ZeroStep& step) {
  const auto bytes = plan_.buffers.at(static_cast<std::size_t>(step.buffer)).meta.span_bytes();
  std::memset(address_of(step.buffer), 0, static_cast<std::size_t>(bytes));
}

void HostPlan::copy_op_outputs(const BufferOffsets& offsets) {
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    const Buffer& buffer = plan_.buffers[i];
    if (!buffer.allocated_by_op || offsets[i] == no_offset) continue;
    std::memcpy(arena_address(buffer, offsets[i]), address_of(static_cast<int>(i)),
                static_cast<std::size_t>(buffer.meta.span_bytes()));
  }
}

void* HostPlan::address_of(int buffer) {
  const auto index = static_cast<std::size_t>(buffer);
  if (plan_.buffers.at(index).allocated_by_op) return op_runtime_->address_of(buffer);
  if (addresses_[index] == nullptr)
    throw DeviceError(Status::judge_error, fmt::format("no address for buffer {}", plan_.buffers[index].name), false);
  return addresses_[index];
}

std::byte* HostPlan::arena_address(const Buffer& buffer, std::uint64_t offset) const {
  const auto bytes = static_cast<std::uint64_t>(buffer.meta.span_bytes());
  if (offset > arena_.size() || bytes > arena_.size() - offset)
    throw DeviceError(Status::judge_error, fmt::format("buffer {} lies outside the arena", buffer.name), false);
  return arena_.data() + offset;
}

}  // namespace cudal1
