// Stands in for torch_stream.cpp where PyTorch is a CPU build.
#include "accelerator/torch_stream.hpp"
#include "base/result.hpp"

namespace cudal1 {

struct TorchStream::Parts {};

std::string why_torch_has_no_gpu() { return "PyTorch is a CPU build"; }

TorchStream::TorchStream(int) { throw Error("a model on a GPU needs a PyTorch with CUDA; this one is a CPU build"); }
TorchStream::~TorchStream() = default;
CUstream TorchStream::stream() const { return nullptr; }
void TorchStream::run(const std::function<void()>&) const {}
cuda::CapturedGraph TorchStream::capture(const std::function<void()>&) const { return {}; }

}  // namespace cudal1
