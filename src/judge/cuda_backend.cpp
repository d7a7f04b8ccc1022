#include <fmt/format.h>

#include <filesystem>

#include "base/files.hpp"
#include "device/cuda/driver.hpp"
#include "device/cuda/runtime_kernels.hpp"
#include "judge/backend.hpp"
#include "judge/cuda_walk_device.hpp"
#include "judge/walk_kernels.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;

class CudaBackend : public Backend {
 public:
  CudaBackend(int ordinal, std::unique_ptr<Compiler> compiler) : ordinal_(ordinal), compiler_(std::move(compiler)) {
    cuda::use_primary_context(ordinal);
    info_ = cuda::device_info(ordinal);
    peak_bytes_per_second_ = cuda::peak_bytes_per_second(ordinal);
    runtime_kernels_ = own_kernels(cuda::runtime_kernels_source, {cuda::scrub_kernel_name, cuda::gate_kernel_name});
    const CompiledModule walks = own_kernels(walk_kernels::source(), walk_kernels::names());
    use_walk_device(ordinal, make_cuda_walk_device(ordinal, walks));
  }

  const DeviceInfo& info() const override { return info_; }
  bool tensors_on_cuda() const override { return true; }
  Compiler& compiler() override { return *compiler_; }
  double peak_bytes_per_second() const override { return peak_bytes_per_second_; }

  RunnerOptions runner_options() override {
    RunnerOptions options;
    options.executable = executable_directory() / "cudal1-runner";
    // LibTorch and the CUDA libraries beside it, for plans with op steps.
    options.readable = {fs::path(CUDAL1_TORCH_DIR).parent_path()};
    for (const auto& entry : fs::directory_iterator("/dev"))
      if (entry.path().filename().string().starts_with("nvidia")) options.writable.push_back(entry.path());
    options.writable.emplace_back("/dev/shm");
    options.runtime_kernels = runtime_kernels_;
    return options;
  }

  std::unique_ptr<Arena> make_arena(std::uint64_t bytes) override { return make_cuda_arena(ordinal_, bytes); }

  std::uint64_t free_bytes() const override {
    std::size_t free = 0, total = 0;
    cuda::check(cuda::driver().cuMemGetInfo(&free, &total), "read the free memory");
    return free;
  }

  void synchronize() override { cuda::check(cuda::driver().cuCtxSynchronize(), "wait for the judge's own work"); }

 private:
  CompiledModule own_kernels(const std::string& source, const std::vector<std::string>& names) {
    auto kernels = compiler_->compile({source, names, info_.target});
    if (!kernels) throw Error("our own kernels do not compile: " + kernels.failure().message);
    return std::move(kernels).value();
  }

  int ordinal_;
  std::unique_ptr<Compiler> compiler_;
  DeviceInfo info_;
  double peak_bytes_per_second_ = 0.0;
  CompiledModule runtime_kernels_;
};

}  // namespace

std::unique_ptr<Backend> make_cuda_backend(int ordinal, std::unique_ptr<Compiler> compiler) {
  std::string reason;
  const int count = cuda::device_count(reason);
  if (count == 0) throw Error("no GPU: " + reason);
  if (ordinal >= count) throw Error(fmt::format("no GPU {}: this machine has {}", ordinal, count));
  return std::make_unique<CudaBackend>(ordinal, std::move(compiler));
}

}  // namespace cudal1
