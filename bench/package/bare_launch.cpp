// The bare launch of a kernel, timed where nothing else is in the loop: what a call of an exported module is compared
// with.
#include <chrono>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "device/cuda/driver.hpp"

namespace {

using cudal1::cuda::check;
using cudal1::cuda::driver;

std::string read(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

CUfunction kernel(const char* cubin, const char* symbol) {
  CUmodule module = nullptr;
  check(driver().cuModuleLoadData(&module, read(cubin).c_str()), "load the cubin");
  CUfunction function = nullptr;
  check(driver().cuModuleGetFunction(&function, module, symbol), "find the kernel");
  return function;
}

}  // namespace

extern "C" {

//! Null where it cannot be loaded.
void* bare_kernel(const char* cubin, const char* symbol) try {
  return kernel(cubin, symbol);
} catch (const std::exception&) {
  return nullptr;
}

//! Nanoseconds that `count` launches take the host; every argument is an address. Negative: a launch failed.
double bare_launches_ns(void* function, unsigned grid, unsigned block, std::uint64_t* arguments, int argument_count,
                        void* stream, int count) {
  std::vector<void*> parameters;
  for (int i = 0; i < argument_count; ++i) parameters.push_back(&arguments[i]);
  CUlaunchConfig config{};
  config.gridDimX = grid;
  config.blockDimX = block;
  config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
  config.hStream = static_cast<CUstream>(stream);
  CUresult result = CUDA_SUCCESS;
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < count && result == CUDA_SUCCESS; ++i)
    result = driver().cuLaunchKernelEx(&config, static_cast<CUfunction>(function), parameters.data(), nullptr);
  const auto end = std::chrono::steady_clock::now();
  return result == CUDA_SUCCESS ? std::chrono::duration<double, std::nano>(end - begin).count() : -1.0;
}

}  // extern "C"
