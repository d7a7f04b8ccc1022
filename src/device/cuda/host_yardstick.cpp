#include "device/cuda/host_yardstick.hpp"

#include <chrono>

namespace cudal1::cuda {
namespace {

constexpr int launches = 4;

}  // namespace

double HostYardstick::launch_ms(CUstream stream) const {
  using Clock = std::chrono::steady_clock;
  CUlaunchConfig config{};
  config.gridDimX = config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = config.blockDimY = config.blockDimZ = 1;
  config.hStream = stream;
  const auto begin = Clock::now();
  for (int i = 0; i < launches; ++i)
    check(driver().cuLaunchKernelEx(&config, kernel_, nullptr, nullptr), "launch an empty kernel");
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count() / launches;
}

}  // namespace cudal1::cuda
