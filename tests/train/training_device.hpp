// Where tests of training compute: on the virtual GPU, or on a GPU where CUDAL1_TEST_DEVICE=cuda asks for one.
#pragma once

#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "accelerator/cuda_decoder.hpp"
#include "accelerator/cuda_runtime.hpp"
#include "virtual_runtime.hpp"

namespace cudal1::testing {

inline bool on_gpu() {
  const char* device = std::getenv("CUDAL1_TEST_DEVICE");
  return device && std::string_view(device) == "cuda";
}

//! Empty, or why kernels cannot run here.
inline std::string why_no_training_device() { return on_gpu() ? why_no_cuda_decoder() : why_no_vgpu(); }

inline at::Device training_device() { return on_gpu() ? at::Device(at::kCUDA, 0) : at::Device(at::kCPU); }

inline std::shared_ptr<GpuRuntime> training_runtime() {
  if (on_gpu()) return std::make_shared<CudaRuntime>(0);
  return std::make_shared<VirtualRuntime>();
}

}  // namespace cudal1::testing
