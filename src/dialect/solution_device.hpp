// Where solutions run: a GPU, or the CPU for solutions that need none.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>

#include "judge/backend.hpp"

namespace cudal1 {

struct SolutionDevice {
  at::Device tensors = at::kCPU;
  DeviceInfo info;
  double peak_bytes_per_second = 0.0;   //!< 0: unknown
  std::uint64_t host_memory_bytes = 0;  //!< that a solution may take; 0: a share of what is free when it starts
  std::function<std::unique_ptr<Arena>(std::uint64_t bytes)> make_arena;
  std::function<void()> synchronize;
  std::shared_ptr<Backend> backend;  //!< empty for the CPU

  bool is_cuda() const { return tensors.is_cuda(); }
  std::string name() const { return is_cuda() ? "cuda" : "cpu"; }
};

SolutionDevice solution_device_on_cpu();
SolutionDevice solution_device_on(std::shared_ptr<Backend> backend);

}  // namespace cudal1
