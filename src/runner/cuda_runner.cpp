// cudal1-runner: the process in which candidates run.
#include <cstdlib>

#include "device/cuda/cuda_device.hpp"
#include "runner/runner_main.hpp"

int main(int argc, char** argv) {
  return cudal1::runner_main(argc, argv, [] {
    const char* ordinal = std::getenv("CUDAL1_GPU");
    return std::make_unique<cudal1::cuda::CudaDevice>(ordinal ? std::atoi(ordinal) : 0);
  });
}
