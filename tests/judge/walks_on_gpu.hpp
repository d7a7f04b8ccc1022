// The judge's walks on a GPU, with its own kernels; skipped where there is none.
#pragma once

#include <ATen/Context.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "compile/nvrtc_compiler.hpp"
#include "device/cuda/driver.hpp"
#include "judge/backend.hpp"
#include "judge/walk_device.hpp"

namespace cudal1::testing {

class WalksOnGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string reason;
    if (cuda::device_count(reason) == 0) GTEST_SKIP() << reason;
    if (!at::hasCUDA()) GTEST_SKIP() << "PyTorch is a build without CUDA";
    static const std::unique_ptr<Backend> backend = make_cuda_backend(0, std::make_unique<NvrtcCompiler>());
    launches_before_ = walk_device_of(0)->launches();
  }

  //! Since the test began.
  std::uint64_t launches() const { return walk_device_of(0)->launches() - launches_before_; }

 private:
  std::uint64_t launches_before_ = 0;
};

//! Mean of so many runs.
inline double milliseconds_of(int runs, const std::function<void()>& work) {
  const auto run = [&] {
    work();
    cuda::check(cuda::driver().cuCtxSynchronize(), "wait");
  };
  run();  // memory is allocated
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < runs; ++i) run();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count() / runs;
}

}  // namespace cudal1::testing
