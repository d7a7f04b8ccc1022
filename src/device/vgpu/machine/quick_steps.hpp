// Which steps a warp can do without leaving its innermost loop.
#pragma once

#include "device/vgpu/machine/step.hpp"

namespace cudal1::vgpu {

//! Sets Step::quick.
void mark_quick_steps(Kernel& kernel);

}  // namespace cudal1::vgpu
