#include "device/cuda/cuda_device.hpp"

#include <fmt/format.h>

#include "device/cuda/cuda_plan.hpp"
#include "device/cuda/runtime_kernels.hpp"
#include "device/cuda/start_gate.hpp"

namespace cudal1::cuda {

Module::Module(const std::string& cubin) {
  check(driver().cuModuleLoadData(&module_, cubin.data()), "load the cubin");
  try {
    globals_ = ModuleGlobals(module_, cubin);
  } catch (...) {
    driver().cuModuleUnload(module_);
    throw;
  }
}

Module::~Module() {
  if (module_) driver().cuModuleUnload(module_);
}

CUfunction Module::function(const std::string& symbol) const {
  CUfunction found = nullptr;
  check(driver().cuModuleGetFunction(&found, module_, symbol.c_str()), fmt::format("find kernel '{}'", symbol));
  return found;
}

CudaDevice::CudaDevice(int ordinal) : ordinal_(ordinal) {
  use_primary_context(ordinal, CU_CTX_SCHED_SPIN);  // a thread that slept through a call starts the next one late
  info_ = device_info(ordinal);
  most_resident_threads_ = cuda::most_resident_threads(ordinal);
  // Neither heap nor print buffer is offered to programs; the smallest sizes leave least room to hide data in.
  driver().cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 0);
  driver().cuCtxSetLimit(CU_LIMIT_PRINTF_FIFO_SIZE, 1024);
  check(driver().cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING), "make a stream");
}

CudaDevice::~CudaDevice() = default;

void CudaDevice::map_arena(UniqueFd memory, const ArenaLayout& layout) {
  synchronize();
  arena_ = MappedMemory();
  arena_ = MappedMemory::import(ordinal_, memory, layout.bytes);
  layout_ = layout;
}

void CudaDevice::set_runtime_kernels(const CompiledModule& module) {
  runtime_kernels_ = std::make_unique<Module>(module.binary);
  gate_ = std::make_unique<StartGate>(runtime_kernels_->function(gate_kernel_name));
  scrub_function_ = runtime_kernels_->function(scrub_kernel_name);
  CUdevice device = 0;
  check(driver().cuDeviceGet(&device, ordinal_), "open the GPU");
  check(driver().cuDeviceGetAttribute(&scrub_shared_bytes_, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
                                      device),
        "read the shared-memory limit");
  check(driver().cuFuncSetAttribute(scrub_function_, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                    scrub_shared_bytes_),
        "raise the shared-memory limit");
}

std::unique_ptr<LoadedPlan> CudaDevice::load(const Plan& plan, const CompiledModule& module, PrecisionFlags flags) {
  return std::make_unique<CudaPlan>(*this, plan, module, flags);
}

void CudaDevice::scrub() const {
  if (!scrub_function_) return;
  int bytes = scrub_shared_bytes_;
  void* parameters[] = {&bytes};
  CUlaunchConfig config{};
  // One block fills a whole multiprocessor; twice as many blocks as processors reach every one of them.
  config.gridDimX = static_cast<unsigned>(2 * info_.multiprocessors);
  config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
  config.blockDimX = 512;
  config.sharedMemBytes = static_cast<unsigned>(scrub_shared_bytes_);
  config.hStream = stream_;
  check(driver().cuLaunchKernelEx(&config, scrub_function_, parameters, nullptr), "launch the scrub kernel");
}

void CudaDevice::synchronize() const { check(driver().cuCtxSynchronize(), "run the program"); }

}  // namespace cudal1::cuda
