#include "device/cuda/prepared_launch.hpp"

#include <fmt/format.h>

namespace cudal1::cuda {
namespace {

constexpr std::int64_t shared_bytes_without_opt_in = 48 * 1024;

CUlaunchConfig config_of(const LaunchStep& step) {
  CUlaunchConfig config{};
  config.gridDimX = static_cast<unsigned>(step.grid[0]);
  config.gridDimY = static_cast<unsigned>(step.grid[1]);
  config.gridDimZ = static_cast<unsigned>(step.grid[2]);
  config.blockDimX = static_cast<unsigned>(step.block[0]);
  config.blockDimY = static_cast<unsigned>(step.block[1]);
  config.blockDimZ = static_cast<unsigned>(step.block[2]);
  config.sharedMemBytes = static_cast<unsigned>(step.shared_bytes);
  return config;
}

std::string symbol_of(const LaunchStep& step, const CompiledModule& compiled) {
  const auto found = compiled.symbols.find(step.kernel);
  if (found == compiled.symbols.end())
    throw DeviceError(Status::plan_error, fmt::format("kernel '{}' is not in the compiled module", step.kernel), false,
                      step.at);
  return found->second;
}

void raise_limits(CUfunction function, const LaunchStep& step) {
  if (step.shared_bytes > shared_bytes_without_opt_in)
    check(driver().cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                      static_cast<int>(step.shared_bytes)),
          fmt::format("kernel '{}' with {} bytes of shared memory", step.kernel, step.shared_bytes), step.at);
  if (step.cluster && (*step.cluster)[0] * (*step.cluster)[1] * (*step.cluster)[2] > 8)
    check(driver().cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1),
          fmt::format("kernel '{}' with a cluster of more than 8 blocks", step.kernel), step.at);
}

}  // namespace

PreparedLaunch::PreparedLaunch(const LaunchStep& step, const Module& module, const CompiledModule& compiled)
    : step_(step), function_(module.function(symbol_of(step, compiled))), config_(config_of(step)) {
  check_against_function(step);
  raise_limits(function_, step);
  values_.resize(step.args.size());
  for (std::size_t i = 0; i < step.args.size(); ++i) {
    if (const auto* tensor = std::get_if<TensorRef>(&step.args[i]))
      pointers_.push_back({i, tensor->buffer, tensor->byte_offset});
    else
      values_[i] = std::get<ScalarArgument>(step.args[i]).bits;
  }
  for (std::uint64_t& value : values_) parameters_.push_back(&value);
  if (step.cluster) {
    cluster_.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    cluster_.value.clusterDim = {static_cast<unsigned>((*step.cluster)[0]), static_cast<unsigned>((*step.cluster)[1]),
                                 static_cast<unsigned>((*step.cluster)[2])};
  }
}

void PreparedLaunch::check_against_function(const LaunchStep& step) const {
  for (std::size_t i = 0;; ++i) {
    std::size_t offset = 0, bytes = 0;
    const bool exists = driver().cuFuncGetParamInfo(function_, i, &offset, &bytes) == CUDA_SUCCESS;
    if (!exists && i == step.args.size()) break;
    if (!exists || i >= step.args.size())
      throw DeviceError(Status::plan_error,
                        fmt::format("kernel '{}' takes {} {} arguments, got {}", step.kernel,
                                    exists ? "more than" : "only", exists ? step.args.size() : i, step.args.size()),
                        false, step.at);
    const auto* scalar = std::get_if<ScalarArgument>(&step.args[i]);
    const std::size_t given = scalar ? static_cast<std::size_t>(scalar->size_bytes) : sizeof(CUdeviceptr);
    if (given != bytes)
      throw DeviceError(
          Status::plan_error,
          fmt::format("kernel '{}': parameter {} has {} bytes, the argument {}", step.kernel, i + 1, bytes, given),
          false, step.at);
  }
  int most_threads = 0;
  check(driver().cuFuncGetAttribute(&most_threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function_),
        "read the kernel's limits");
  const std::int64_t threads = step.block[0] * step.block[1] * step.block[2];
  if (threads > most_threads)
    throw DeviceError(Status::launch_error,
                      fmt::format("kernel '{}' can run with at most {} threads a block (its registers), not {}",
                                  step.kernel, most_threads, threads),
                      false, step.at);
}

void PreparedLaunch::set_addresses(const std::vector<std::byte*>& addresses) {
  for (const Pointer& pointer : pointers_) {
    const std::byte* address = addresses[static_cast<std::size_t>(pointer.buffer)] + pointer.byte_offset;
    values_[pointer.argument] = reinterpret_cast<std::uint64_t>(address);
  }
}

void PreparedLaunch::launch(CUstream stream) {
  config_.hStream = stream;
  config_.attrs = step_.cluster ? &cluster_ : nullptr;
  config_.numAttrs = step_.cluster ? 1 : 0;
  const CUresult result = driver().cuLaunchKernelEx(&config_, function_, parameters_.data(), nullptr);
  if (result != CUDA_SUCCESS) check(result, fmt::format("launch kernel '{}'", step_.kernel), step_.at);
}

LaunchResources PreparedLaunch::resources(int most_resident_threads) const {
  const auto attribute = [&](CUfunction_attribute which) {
    int value = 0;
    check(driver().cuFuncGetAttribute(&value, which, function_), "read the kernel's needs");
    return value;
  };
  const auto threads = static_cast<int>(step_.block[0] * step_.block[1] * step_.block[2]);
  int blocks = 0;
  check(driver().cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function_, threads, config_.sharedMemBytes),
        "read the kernel's occupancy");
  const int warps = blocks * ((threads + 31) / 32);
  return {attribute(CU_FUNC_ATTRIBUTE_NUM_REGS), attribute(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES),
          attribute(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES) + step_.shared_bytes, blocks,
          warps / (most_resident_threads / 32.0)};
}

void PreparedLaunch::patch(CUgraphExec graph, CUgraphNode node) {
  CUDA_KERNEL_NODE_PARAMS parameters{};
  parameters.func = function_;
  parameters.gridDimX = config_.gridDimX;
  parameters.gridDimY = config_.gridDimY;
  parameters.gridDimZ = config_.gridDimZ;
  parameters.blockDimX = config_.blockDimX;
  parameters.blockDimY = config_.blockDimY;
  parameters.blockDimZ = config_.blockDimZ;
  parameters.sharedMemBytes = config_.sharedMemBytes;
  parameters.kernelParams = parameters_.data();
  check(driver().cuGraphExecKernelNodeSetParams(graph, node, &parameters),
        fmt::format("patch kernel '{}' in the graph", step_.kernel), step_.at);
}

std::vector<PreparedLaunch> launches_of(const std::vector<Step>& steps, const Module* module,
                                        const CompiledModule& compiled) {
  std::vector<PreparedLaunch> launches;
  for (const Step& step : steps)
    if (const auto* launch = std::get_if<LaunchStep>(&step)) launches.emplace_back(*launch, *module, compiled);
  return launches;
}

}  // namespace cudal1::cuda
