#pragma once

#include <string>

#include "device/vgpu/model/gpu_profile.hpp"

namespace cudal1 {

//! What a writer of kernels wants to know of a GPU, in a few lines; for one that is really there the profile is
//! vgpu::profile_for(…).
std::string gpu_text(const vgpu::GpuProfile& gpu);

}  // namespace cudal1
