#include "cli/device_choice.hpp"

#include "compile/clang_compiler.hpp"
#include "compile/nvrtc_compiler.hpp"
#include "device/cuda/driver.hpp"
#include "judge/backend_profile.hpp"

namespace cudal1 {

std::unique_ptr<Backend> choose_backend(const std::string& device, const VgpuOptions& vgpu) {
  std::string reason;
  if (device == "cuda" && vgpu.debug) throw Error("--debug needs the virtual GPU: --device vgpu");
  const bool is_virtual = device == "vgpu" || vgpu.debug;
  const bool has_gpu = !is_virtual && cuda::device_count(reason) > 0;
  if (is_virtual || (device == "auto" && !has_gpu)) {
    ClangCompilerOptions options;
    options.debug = vgpu.debug;
    return make_vgpu_backend(std::make_unique<ClangCompiler>(std::move(options)), vgpu);
  }
  if (!has_gpu) throw Error("no GPU to run on: " + reason + " (./cudal1 doctor says more)");
  return make_cuda_backend(0, std::make_unique<NvrtcCompiler>());
}

vgpu::GpuProfile profile_for(const Backend& backend, const std::string& predicted_gpu) {
  if (backend.predicted()) return vgpu::find_profile(predicted_gpu);
  const vgpu::MatchingProfile matching = profile_of(backend);
  return vgpu::parse_profile(matching.text, matching.origin);
}

void leave_cores_to_others() {
  std::string reason;
  if (cuda::device_count(reason) > 0) cuda::use_primary_context(0, CU_CTX_SCHED_BLOCKING_SYNC);
}

std::unique_ptr<Backend> make_counting_backend(const std::string& gpu_file) {
  constexpr std::uint64_t sample_blocks = 264;  // two for each multiprocessor of a large GPU
  return make_vgpu_backend(std::make_unique<ClangCompiler>(),
                           {.gpu = gpu_file, .checks = "none", .sample_blocks = sample_blocks});
}

}  // namespace cudal1
