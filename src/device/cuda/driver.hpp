// The CUDA driver, opened at run time: one build serves machines with and without a GPU.
#pragma once

#include <cuda.h>

#include <string>

#include "device/device.hpp"

namespace cudal1::cuda {

// Each name is a macro of cuda.h that selects the versioned symbol.
// clang-format off
#define CUDAL1_DRIVER_FUNCTIONS(X) \
  X(cuInit) X(cuDriverGetVersion) X(cuGetErrorName) X(cuGetErrorString) \
  X(cuDeviceGet) X(cuDeviceGetCount) X(cuDeviceGetName) X(cuDeviceGetUuid) X(cuDeviceGetAttribute) \
  X(cuDeviceTotalMem) X(cuDevicePrimaryCtxRetain) X(cuDevicePrimaryCtxRelease) X(cuDevicePrimaryCtxSetFlags) \
  X(cuCtxSetCurrent) X(cuCtxSynchronize) X(cuCtxSetLimit) X(cuCtxResetPersistingL2Cache) \
  X(cuMemCreate) X(cuMemRelease) X(cuMemExportToShareableHandle) X(cuMemImportFromShareableHandle) \
  X(cuMemAddressReserve) X(cuMemAddressFree) X(cuMemMap) X(cuMemUnmap) X(cuMemSetAccess) \
  X(cuMemGetAllocationGranularity) X(cuMemGetInfo) \
  X(cuMemHostAlloc) X(cuMemHostGetDevicePointer) X(cuMemFreeHost) \
  X(cuMemAlloc) X(cuMemFree) X(cuMemAllocAsync) X(cuMemFreeAsync) X(cuMemsetD8Async) X(cuMemcpyDtoDAsync) X(cuMemcpyDtoH) X(cuMemcpyHtoD) \
  X(cuModuleLoadData) X(cuModuleLoadDataEx) X(cuModuleUnload) X(cuModuleGetFunction) X(cuModuleGetGlobal) \
  X(cuFuncSetAttribute) X(cuFuncGetAttribute) X(cuFuncGetParamInfo) X(cuLaunchKernelEx) \
  X(cuOccupancyMaxActiveBlocksPerMultiprocessor) \
  X(cuStreamCreate) X(cuStreamDestroy) X(cuStreamSynchronize) X(cuStreamGetId) X(cuStreamIsCapturing) \
  X(cuStreamWaitEvent) X(cuEventCreate) X(cuEventDestroy) X(cuEventRecord) X(cuEventElapsedTime) \
  X(cuStreamBeginCapture) X(cuStreamEndCapture) X(cuStreamGetCaptureInfo) \
  X(cuGraphInstantiate) X(cuGraphLaunch) X(cuGraphUpload) X(cuGraphDestroy) X(cuGraphExecDestroy) \
  X(cuGraphExecKernelNodeSetParams)
// clang-format on

struct Driver {
#define CUDAL1_DECLARE(name) decltype(&::name) name = nullptr;
  CUDAL1_DRIVER_FUNCTIONS(CUDAL1_DECLARE)
#undef CUDAL1_DECLARE
};

//! Opens the driver once. Throws DeviceError(unsupported) saying what is missing.
const Driver& driver();

//! What a driver's error code means for the program that caused it.
Status status_of(CUresult result);

//! Does this error leave the context unusable?
bool is_fatal(CUresult result);

std::string describe(CUresult result);

//! Throws DeviceError unless the result is success; `action` says what was tried.
void check(CUresult result, const std::string& action, SourcePosition at = {});

//! Number of devices; 0 with `reason` filled when there is no driver or no device.
int device_count(std::string& reason);

//! Makes the primary context of the device current and returns it (PyTorch uses the same one).
CUcontext use_primary_context(int ordinal, unsigned flags = CU_CTX_SCHED_AUTO);

DeviceInfo device_info(int ordinal);

//! Of the GPU's memory, as it is without this process if it does not use the GPU otherwise: no context stays.
std::uint64_t free_bytes(int ordinal);

//! Of one multiprocessor.
int most_resident_threads(int ordinal);

//! The most the memory system can deliver, from clock and bus width; 0 if the driver does not say.
double peak_bytes_per_second(int ordinal);

}  // namespace cudal1::cuda
