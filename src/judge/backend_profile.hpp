// What a device can do, as numbers, for those who estimate before they measure.
#pragma once

#include "device/vgpu/model/matching_profile.hpp"
#include "judge/backend.hpp"

namespace cudal1 {

//! Of a GPU that is really there.
vgpu::MatchingProfile profile_of(const Backend& backend);

}  // namespace cudal1
