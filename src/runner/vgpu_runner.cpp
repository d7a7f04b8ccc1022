// cudal1-vgpu-runner: the process in which candidates run on the virtual GPU. `--gpu NAME`: whose times it predicts;
// `--checks NAMES`: which checks look on; `--sample BLOCKS`: only count, see VgpuDevice.
#include <cstdint>
#include <string>
#include <string_view>

#include "device/vgpu/vgpu_device.hpp"
#include "runner/runner_main.hpp"

int main(int argc, char** argv) {
  std::string gpu = "h200", checks = "all";
  std::uint64_t sample_blocks = 0;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::string_view(argv[i]) == "--gpu") gpu = argv[i + 1];
    if (std::string_view(argv[i]) == "--checks") checks = argv[i + 1];
    if (std::string_view(argv[i]) == "--sample") sample_blocks = std::stoull(argv[i + 1]);
  }
  return cudal1::runner_main(argc, argv, [=] {
    return std::make_unique<cudal1::vgpu::VgpuDevice>(gpu, cudal1::vgpu::checks_named(checks), sample_blocks);
  });
}
