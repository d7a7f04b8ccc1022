// Needs LibTorch's CUDA headers.
#include "accelerator/torch_stream.hpp"

#include <ATen/Context.h>
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAStream.h>

namespace cudal1 {
namespace {

namespace allocator = c10::cuda::CUDACachingAllocator;

c10::DeviceIndex index_of(int gpu) { return static_cast<c10::DeviceIndex>(gpu); }

//! Makes another stream the current one for a while.
class OnStream {
 public:
  OnStream(CUstream stream, int gpu) : before_(c10::cuda::getCurrentCUDAStream(index_of(gpu))) {
    c10::cuda::setCurrentCUDAStream(c10::cuda::getStreamFromExternal(stream, index_of(gpu)));
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

//! Memory that PyTorch gives to nobody but a graph.
class GraphMemory {
 public:
  explicit GraphMemory(int gpu) : device_(index_of(gpu)), pool_(at::cuda::graph_pool_handle()) {}
  GraphMemory(const GraphMemory&) = delete;
  GraphMemory& operator=(const GraphMemory&) = delete;
  ~GraphMemory() {
    if (is_used_) allocator::releasePool(device_, pool_);
  }

  cuda::CapturedGraph capture(CUstream stream, const std::function<void()>& work) {
    allocator::beginAllocateToPool(device_, pool_, [stream](cudaStream_t used) { return used == stream; });
    is_used_ = true;
    const Allocating allocating(*this);
    return cuda::capture(stream, work);
  }

 private:
  struct Allocating {
    explicit Allocating(const GraphMemory& from) : memory(from) {
      mark_capture(allocator::get(), memory.device_, true);
    }
    Allocating(const Allocating&) = delete;
    Allocating& operator=(const Allocating&) = delete;
    ~Allocating() {
      mark_capture(allocator::get(), memory.device_, false);
      allocator::endAllocateToPool(memory.device_, memory.pool_);
    }
    const GraphMemory& memory;
  };

  c10::DeviceIndex device_;
  c10::MempoolId_t pool_;
  bool is_used_ = false;
};

}  // namespace

struct TorchStream::Parts {
  int gpu = 0;
  CUstream stream = nullptr;
};

std::string why_torch_has_no_gpu() { return at::globalContext().hasCUDA() ? "" : "PyTorch finds no GPU"; }

TorchStream::TorchStream(int gpu) : parts_(std::make_unique<Parts>()) {
  at::globalContext().lazyInitDevice(c10::DeviceType::CUDA);
  parts_->gpu = gpu;
  cuda::check(cuda::driver().cuStreamCreate(&parts_->stream, CU_STREAM_NON_BLOCKING), "make a stream");
}

TorchStream::~TorchStream() {
  cuda::driver().cuStreamSynchronize(parts_->stream);
  cuda::driver().cuStreamDestroy(parts_->stream);
}

CUstream TorchStream::stream() const { return parts_->stream; }

void TorchStream::run(const std::function<void()>& work) const {
  const OnStream current(parts_->stream, parts_->gpu);
  work();
}

cuda::CapturedGraph TorchStream::capture(const std::function<void()>& work) const {
  auto memory = std::make_shared<GraphMemory>(parts_->gpu);
  cuda::CapturedGraph made = memory->capture(parts_->stream, work);
  // The graph goes first.
  made.owner = std::make_shared<std::pair<std::shared_ptr<void>, std::shared_ptr<void>>>(memory, made.owner);
  return made;
}

}  // namespace cudal1
