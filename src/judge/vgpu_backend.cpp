#include <malloc.h>
#include <unistd.h>

#include <filesystem>
#include <limits>

#include "base/files.hpp"
#include "device/vgpu/checks/check_options.hpp"
#include "device/vgpu/model/gpu_profile.hpp"
#include "judge/backend.hpp"

namespace cudal1 {
namespace {

//! The judge's tensors come and go by the thousand, tens of megabytes each. By default every one of them is mapped and
//! unmapped, and to clear its pages takes longer than to compute with it.
void keep_freed_memory() {
  ::mallopt(M_MMAP_MAX, 0);
  ::mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  ::mallopt(M_ARENA_MAX, 1);  // those of other threads give memory back all the same
}

class VgpuBackend : public Backend {
 public:
  VgpuBackend(std::unique_ptr<Compiler> compiler, const VgpuOptions& options)
      : compiler_(std::move(compiler)), options_(options) {
    keep_freed_memory();
    vgpu::checks_named(options_.checks);
    info_.name = "virtual " + vgpu::find_profile(options_.gpu).title;
    // The runner starts in another folder.
    if (std::filesystem::exists(options_.gpu)) options_.gpu = std::filesystem::absolute(options_.gpu).string();
    info_.uuid = "vgpu";
    info_.target = compiler_->target_for("sm_90");
    info_.memory_bytes = ::sysconf(_SC_PHYS_PAGES) * ::sysconf(_SC_PAGESIZE);
  }

  const DeviceInfo& info() const override { return info_; }
  bool tensors_on_cuda() const override { return false; }
  Compiler& compiler() override { return *compiler_; }
  double peak_bytes_per_second() const override { return 0.0; }
  bool predicted() const override { return true; }
  void synchronize() override {}

  RunnerOptions runner_options() override {
    RunnerOptions options;
    options.executable = executable_directory() / "cudal1-vgpu-runner";
    options.readable = {std::filesystem::path(CUDAL1_TORCH_DIR).parent_path()};
    options.arguments = {"--gpu", options_.gpu, "--checks", options_.checks};
    if (options_.sample_blocks > 0)
      options.arguments.insert(options.arguments.end(), {"--sample", std::to_string(options_.sample_blocks)});
    if (std::filesystem::exists(options_.gpu)) options.readable.push_back(options_.gpu);  // a profile of the user's own
    return options;
  }

  std::unique_ptr<Arena> make_arena(std::uint64_t bytes) override { return make_host_arena(bytes); }

  std::uint64_t free_bytes() const override {
    return static_cast<std::uint64_t>(::sysconf(_SC_AVPHYS_PAGES)) *
           static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  }

 private:
  std::unique_ptr<Compiler> compiler_;
  VgpuOptions options_;
  DeviceInfo info_;
};

}  // namespace

std::unique_ptr<Backend> make_vgpu_backend(std::unique_ptr<Compiler> compiler, const VgpuOptions& options) {
  return std::make_unique<VgpuBackend>(std::move(compiler), options);
}

}  // namespace cudal1
