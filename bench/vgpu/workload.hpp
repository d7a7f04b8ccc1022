// Kernels on the virtual GPU's machine, and how long they take.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "device/vgpu/checks/check_options.hpp"
#include "device/vgpu/machine/counters.hpp"
#include "device/vgpu/machine/step.hpp"

namespace cudal1::bench {

struct Case {
  std::string kernel;
  std::uint32_t n;  //!< matrices of n x n
  vgpu::Index3 grid, block;
};

//! Tiled products, reductions and the rest, each of some ten milliseconds.
const std::vector<Case>& tiled_products();
const std::vector<Case>& reductions();
const std::vector<Case>& others();
std::vector<Case> all_cases();
//! Of 1024 x 1024 x 1024.
const std::vector<Case>& large_products();

struct RunOptions {
  std::uint32_t threads = 1;
  std::uint64_t sample = 0;  //!< blocks; 0: all
  vgpu::CheckOptions checks{false, false, false};
};

struct RunTime {
  double seconds = 1e9;      //!< by the clock
  double cpu_seconds = 1e9;  //!< of all threads: where others are at work too, this and not the clock is its speed
  double warp_instructions = 0;

  double ns_per_instruction() const { return cpu_seconds / warp_instructions * 1e9; }
};

//! The better of each number.
RunTime best(const RunTime& a, const RunTime& b);

class Workload {
 public:
  //! Three buffers of so many floats each.
  explicit Workload(std::size_t floats);

  RunTime run(const Case& one, const RunOptions& options = {});
  RunTime best_of(int repetitions, const Case& one, const RunOptions& options = {});

 private:
  vgpu::KernelCounters launch(const vgpu::Kernel& kernel, const Case& one, const RunOptions& options);
  std::map<std::string, vgpu::Kernel> kernels_;  // decoded once, as those of a plan are
  std::vector<float> a_, b_, c_;
};

}  // namespace cudal1::bench
