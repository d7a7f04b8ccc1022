#include "accelerator/cuda_decoder.hpp"

#include "accelerator/cuda_runtime.hpp"
#include "compile/nvrtc_location.hpp"

namespace cudal1 {

std::string why_no_cuda_decoder() {
  std::string reason;
  if (cuda::device_count(reason) == 0) return reason;
  if (reason = why_torch_has_no_gpu(); !reason.empty()) return reason;
  return find_nvrtc() ? "" : "NVRTC, the CUDA compiler library, is missing";
}

std::unique_ptr<GpuDecoder> make_cuda_decoder(const ModelWeights& weights, const GpuDecoderOptions& options, int gpu) {
  return std::make_unique<GpuDecoder>(weights, options, std::make_shared<CudaRuntime>(gpu));
}

}  // namespace cudal1
