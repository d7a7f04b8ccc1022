// cudal1-vgpu-runner: the process in which candidates run on the virtual GPU.
#include "device/vgpu/vgpu_device.hpp"
#include "runner/runner_main.hpp"

int main(int argc, char** argv) {
  return cudal1::runner_main(argc, argv, [] { return std::make_unique<cudal1::vgpu::VgpuDevice>(); });
}
