#include "cli/device_choice.hpp"

#include "compile/nvrtc_compiler.hpp"
#include "device/cuda/driver.hpp"

namespace cudal1 {

std::unique_ptr<Backend> choose_backend(const std::string& device) {
  if (device == "vgpu") throw Error("this version has no virtual GPU yet; use --device cuda on a machine with a GPU");
  std::string reason;
  if (cuda::device_count(reason) == 0) throw Error("no GPU to run on: " + reason + " (./cudal1 doctor says more)");
  return make_cuda_backend(0, std::make_unique<NvrtcCompiler>());
}

}  // namespace cudal1
