#include "base/result.hpp"
#include "package/torch_cuda.hpp"

namespace cudal1 {
namespace {

[[noreturn]] void fail() { throw Error("this PyTorch has no CUDA"); }

}  // namespace

void* current_stream(at::Device) { fail(); }
at::Tensor empty_on_gpu(at::IntArrayRef, at::IntArrayRef, at::ScalarType, at::Device) { fail(); }
cuda::CapturedGraph capture_with_library(at::Device, const Plan&, const RunOnStreams&) { fail(); }
void run_on_stream(at::Device, void*, const std::function<void()>&) { fail(); }

}  // namespace cudal1
