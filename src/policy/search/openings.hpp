// What a search tries first: everything that techniques can do, and each kind of it left out.
#pragma once

#include <vector>

#include "device/vgpu/model/gpu_profile.hpp"
#include "policy/search/search_space.hpp"

namespace cudal1 {

//! The most promising last.
std::vector<Proposal> opening_proposals(SearchSpace& space, const vgpu::GpuProfile& gpu);

}  // namespace cudal1
