// Needs LibTorch's CUDA headers.
#include "package/torch_cuda.hpp"

#include <ATen/cuda/CUDAGraph.h>
#include <ATen/cuda/EmptyTensor.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

namespace cudal1 {
namespace {

//! A graph that PyTorch knows of, so that its allocator keeps memory for it, and the stream that it was captured on:
//! libraries keep a workspace for each stream, which nobody else may use while the graph lives.
struct LibraryGraph {
  at::cuda::CUDAGraph graph{/*keep_graph=*/true};
  CUstream stream = nullptr;

  LibraryGraph() { cuda::check(cuda::driver().cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "make a stream"); }
  LibraryGraph(const LibraryGraph&) = delete;
  LibraryGraph& operator=(const LibraryGraph&) = delete;
  ~LibraryGraph() { cuda::driver().cuStreamDestroy(stream); }

  void abandon() {
    try {
      graph.capture_end();
    } catch (const std::exception&) {  // that the capture is broken is why we are here
    }
    cudaGetLastError();  // nobody else shall find this error
  }
};

}  // namespace

void* current_stream(at::Device device) {
  // A thread that has done nothing on the GPU so far has no context, which the driver asks for.
  thread_local std::uint64_t entered = 0;
  const std::uint64_t bit = std::uint64_t{1} << (device.index() % 64);
  if (!(entered & bit)) {
    C10_CUDA_CHECK(cudaSetDevice(device.index()));
    entered |= bit;
  }
  return c10::cuda::getCurrentCUDAStream(device.index()).stream();
}

at::Tensor empty_on_gpu(at::IntArrayRef sizes, at::IntArrayRef strides, at::ScalarType type, at::Device device) {
  return at::Tensor(at::detail::empty_strided_cuda(sizes, strides, type, device));
}

cuda::CapturedGraph capture_with_library(at::Device device, const std::function<void(CUstream)>& run) {
  auto made = std::make_shared<LibraryGraph>();
  const c10::cuda::CUDAStreamGuard guard(c10::cuda::getStreamFromExternal(made->stream, device.index()));
  // Relaxed: what other threads do meanwhile is not ours.
  made->graph.capture_begin({0, 0}, cudaStreamCaptureModeRelaxed);
  try {
    run(made->stream);
  } catch (...) {
    made->abandon();
    throw;
  }
  made->graph.capture_end();
  return {made->graph.raw_cuda_graph(), made};
}

void run_on_stream(at::Device device, void* stream, const std::function<void()>& run) {
  const c10::cuda::CUDAStreamGuard guard(
      c10::cuda::getStreamFromExternal(static_cast<cudaStream_t>(stream), device.index()));
  run();
}

}  // namespace cudal1
