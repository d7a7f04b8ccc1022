#include "cuda_run.hpp"

#include <fmt/format.h>

#include "device/cuda/driver.hpp"

namespace cudal1::conformance {

using cuda::check;
using cuda::driver;

DeviceBuffer::DeviceBuffer(std::size_t bytes) : bytes_(bytes) {
  check(driver().cuMemAlloc(&address_, bytes), fmt::format("take {} bytes of the GPU's memory", bytes));
}

DeviceBuffer::~DeviceBuffer() {
  if (address_ != 0) driver().cuMemFree(address_);
}

LoadedCase::LoadedCase(const Case& given, const CompiledCase& compiled) : given_(given) {
  std::string log(8192, '\0');
  std::vector<CUjit_option> options{CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  std::vector<void*> values{log.data(), reinterpret_cast<void*>(log.size())};
  const CUresult loaded = driver().cuModuleLoadDataEx(
      &module_, compiled.ptx.c_str(), static_cast<unsigned>(options.size()), options.data(), values.data());
  check(loaded, fmt::format("load {}: {}", given.name(), log.c_str()));
  for (const LaunchSpec& launch : given.launches) {
    CUfunction function = nullptr;
    check(driver().cuModuleGetFunction(&function, module_, compiled.symbols.at(launch.kernel).c_str()),
          fmt::format("find {}", launch.kernel));
    check(driver().cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                      static_cast<int>(launch.shared_bytes)),
          fmt::format("give {} its shared memory", launch.kernel));
    functions_.push_back(function);
  }
}

LoadedCase::~LoadedCase() {
  if (module_) driver().cuModuleUnload(module_);
}

void LoadedCase::launch(const Addresses& addresses, CUstream stream) const {
  for (std::size_t i = 0; i < functions_.size(); ++i) {
    const LaunchSpec& spec = given_.launches[i];
    std::vector<CUdeviceptr> pointers(spec.arguments.size());
    std::vector<void*> parameters;
    for (std::size_t k = 0; k < spec.arguments.size(); ++k) {
      const Argument& argument = spec.arguments[k];
      if (!argument.buffer.empty()) pointers[k] = addresses.at(argument.buffer);
      parameters.push_back(argument.buffer.empty() ? const_cast<std::byte*>(argument.number.data())
                                                   : static_cast<void*>(&pointers[k]));
    }
    CUlaunchConfig config{};
    config.gridDimX = spec.grid[0], config.gridDimY = spec.grid[1], config.gridDimZ = spec.grid[2];
    config.blockDimX = spec.block[0], config.blockDimY = spec.block[1], config.blockDimZ = spec.block[2];
    config.sharedMemBytes = spec.shared_bytes;
    config.hStream = stream;
    check(driver().cuLaunchKernelEx(&config, functions_[i], parameters.data(), nullptr),
          fmt::format("launch {} of {}", spec.kernel, given_.name()));
  }
}

void run_on_gpu(const Case& given, const CompiledCase& compiled, Memory& memory) {
  const LoadedCase loaded(given, compiled);
  std::vector<DeviceBuffer> buffers;
  Addresses addresses;
  for (const auto& [name, bytes] : memory) {
    addresses[name] = buffers.emplace_back(bytes.size()).address();
    check(driver().cuMemcpyHtoD(addresses[name], bytes.data(), bytes.size()), fmt::format("fill {}", name));
  }
  loaded.launch(addresses, nullptr);
  check(driver().cuCtxSynchronize(), fmt::format("run {}", given.name()));
  for (auto& [name, bytes] : memory)
    check(driver().cuMemcpyDtoH(bytes.data(), addresses.at(name), bytes.size()), fmt::format("read {}", name));
}

}  // namespace cudal1::conformance
