// How long steps take that run side by side on branches of a CUDA Graph.
#pragma once

#include <vector>

#include "device/vgpu/model/gpu_profile.hpp"
#include "device/vgpu/model/kernel_report.hpp"
#include "program/plan.hpp"

namespace cudal1::vgpu {

struct StepCost {
  double milliseconds = 0.0;  //!< by itself
  double whole_gpu_ms = 0.0;  //!< of that, what it needs of the part that it keeps busiest, as if it had all of that
};

StepCost cost_of(const KernelReport& row, const GpuProfile& gpu);

//! No shorter than the longest path from step to step, and no shorter than what all of them need of the GPU. What they
//! need of different parts is added up as well, and nothing is said of blocks that wait for a free multiprocessor, so
//! this is no more than a bound that small steps come close to.
double branched_ms(const std::vector<BranchStep>& branches, const std::vector<StepCost>& costs);

}  // namespace cudal1::vgpu
