// Needs LibTorch's CUDA headers.
#include "package/torch_cuda.hpp"

#include <ATen/cuda/CUDAGraph.h>
#include <ATen/cuda/EmptyTensor.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAStream.h>

#include <algorithm>

namespace cudal1 {
namespace {

namespace allocator = c10::cuda::CUDACachingAllocator;

//! Makes another stream the current one for a while.
class OnStream {
 public:
  OnStream(CUstream stream, c10::DeviceIndex device) : before_(c10::cuda::getCurrentCUDAStream(device)) {
    c10::cuda::setCurrentCUDAStream(c10::cuda::getStreamFromExternal(stream, device));
  }
  OnStream(const OnStream&) = delete;
  OnStream& operator=(const OnStream&) = delete;
  ~OnStream() { c10::cuda::setCurrentCUDAStream(before_); }

 private:
  c10::cuda::CUDAStream before_;
};

//! Newer versions of PyTorch want to know that a capture is under way.
template <class Allocator>
void mark_capture(Allocator* torch_allocator, c10::DeviceIndex device, bool begins) {
  if constexpr (requires { torch_allocator->markCaptureBegin(device); })
    begins ? torch_allocator->markCaptureBegin(device) : torch_allocator->markCaptureEnd(device);
}

//! What a graph with library steps holds on to: memory that PyTorch gives to nobody else, and the streams that it was
//! captured on, for which libraries keep workspaces. Not at::cuda::CUDAGraph, which takes the random numbers of all
//! threads into the capture.
class LibraryMemory {
 public:
  LibraryMemory(c10::DeviceIndex device, const Plan& plan) : device_(device), pool_(at::cuda::graph_pool_handle()) {
    cuda::check(cuda::driver().cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING), "make a stream");
    streams_ = side_streams_.behind(stream_, plan);
  }
  LibraryMemory(const LibraryMemory&) = delete;
  LibraryMemory& operator=(const LibraryMemory&) = delete;
  ~LibraryMemory() {
    if (is_used_) allocator::releasePool(device_, pool_);
    cuda::driver().cuStreamDestroy(stream_);
  }

  cuda::CapturedGraph capture(const RunOnStreams& run) {
    const OnStream current(stream_, device_);
    // Within the pool as elsewhere: what one stream frees, PyTorch gives to no other.
    allocator::beginAllocateToPool(
        device_, pool_, [own = streams_](cudaStream_t stream) { return std::ranges::find(own, stream) != own.end(); });
    is_used_ = true;
    const Allocating allocating(device_, pool_);
    return cuda::capture(stream_, [&] { run(streams_); });
  }

 private:
  struct Allocating {
    Allocating(c10::DeviceIndex on, c10::MempoolId_t from) : device(on), pool(from) {
      mark_capture(allocator::get(), device, true);
    }
    Allocating(const Allocating&) = delete;
    Allocating& operator=(const Allocating&) = delete;
    ~Allocating() {
      mark_capture(allocator::get(), device, false);
      allocator::endAllocateToPool(device, pool);
    }
    c10::DeviceIndex device;
    c10::MempoolId_t pool;
  };

  c10::DeviceIndex device_;
  c10::MempoolId_t pool_;
  CUstream stream_ = nullptr;
  cuda::SideStreams side_streams_;
  std::vector<CUstream> streams_;  // all of them
  bool is_used_ = false;
};

}  // namespace

void* current_stream(at::Device device) {
  // A thread that has done nothing on the GPU so far has no context, which the driver asks for.
  thread_local std::uint64_t entered = 0;
  const std::uint64_t bit = std::uint64_t{1} << (device.index() % 64);
  if (!(entered & bit)) {
    cuda::use_primary_context(device.index());
    entered |= bit;
  }
  return c10::cuda::getCurrentCUDAStream(device.index()).stream();
}

at::Tensor empty_on_gpu(at::IntArrayRef sizes, at::IntArrayRef strides, at::ScalarType type, at::Device device) {
  return at::Tensor(at::detail::empty_strided_cuda(sizes, strides, type, device));
}

cuda::CapturedGraph capture_with_library(at::Device device, const Plan& plan, const RunOnStreams& run) {
  auto memory = std::make_shared<LibraryMemory>(device.index(), plan);
  cuda::CapturedGraph made = memory->capture(run);
  // The graph goes first.
  made.owner = std::make_shared<std::pair<std::shared_ptr<void>, std::shared_ptr<void>>>(memory, made.owner);
  return made;
}

void run_on_stream(at::Device device, void* stream, const std::function<void()>& run) {
  const OnStream current(static_cast<CUstream>(stream), device.index());
  run();
}

}  // namespace cudal1
