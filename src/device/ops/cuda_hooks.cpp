// The only file that needs LibTorch's CUDA headers.
#include "device/ops/cuda_hooks.hpp"

#include <c10/cuda/CUDAStream.h>
#include <torch/csrc/cuda/CUDAPluggableAllocator.h>

#include <mutex>

#include "device/op_runtime.hpp"
#include "device/ops/region_allocator.hpp"

namespace cudal1 {
namespace {

std::mutex mutex;  // autograd-free, but libraries may allocate from threads of their own
RegionAllocator& region() {
  static RegionAllocator allocator;
  return allocator;
}

void* allocate_for_library(std::size_t bytes, int, cudaStream_t stream) {
  if (bytes == 0) return nullptr;
  const std::lock_guard lock(mutex);
  void* address = region().allocate(bytes, stream);
  TORCH_CHECK_WITH(OutOfMemoryError, address, "the library asked for ", bytes, " bytes ", region_is_short);
  return address;
}

void free_for_library(void* address, std::size_t, int, cudaStream_t stream) {
  const std::lock_guard lock(mutex);
  region().free(address, stream);
}

void install_allocator_once() {
  static const auto allocator =
      torch::cuda::CUDAPluggableAllocator::createCustomAllocator(allocate_for_library, free_for_library);
  static std::once_flag installed;
  std::call_once(installed, [] { torch::cuda::CUDAPluggableAllocator::changeCurrentAllocator(allocator); });
}

}  // namespace

void route_library_to(const OpRuntimeOptions& options) {
  static std::byte* routed_region = nullptr;
  if (routed_region && routed_region != options.region)
    throw DeviceError(Status::judge_error, "the op region may not move while the library holds memory in it", true);
  if (!routed_region) region().reset(options.region, options.region_bytes);
  routed_region = options.region;
  install_allocator_once();
  use_library_stream(options.stream);
}

void use_library_stream(void* stream) {
  c10::cuda::setCurrentCUDAStream(c10::cuda::getStreamFromExternal(static_cast<cudaStream_t>(stream), 0));
}

void keep_streams_apart(bool apart) {
  const std::lock_guard lock(mutex);
  region().keep_apart(apart);
}

void vary_region(std::uint64_t seed) {
  const std::lock_guard lock(mutex);
  region().vary(seed, roaming_bytes);
}

void* allocate_in_region(std::size_t bytes) {
  const std::lock_guard lock(mutex);
  return region().allocate(bytes);
}

void free_in_region(void* address) {
  const std::lock_guard lock(mutex);
  region().free(address);
}

}  // namespace cudal1
