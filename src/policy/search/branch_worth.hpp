#pragma once

#include "device/vgpu/model/gpu_profile.hpp"
#include "program/plan.hpp"

namespace cudal1 {

//! Are there steps on different branches that both take long, and is a call noticeably shorter with them side by side?
//! By the estimates that the virtual GPU has for library steps, and by what kernels move.
bool is_worth_branches(const vgpu::GpuProfile& gpu, const Plan& plan);

}  // namespace cudal1
