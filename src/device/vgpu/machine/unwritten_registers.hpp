// Registers that a thread may read before it has written them.
#pragma once

#include "device/vgpu/machine/liveness.hpp"

namespace cudal1::vgpu {

//! What they hold must not depend on which block ran before, so a warp clears them when it begins. All others need
//! nothing. Where it is not known what a step reads, more are named than need be.
std::vector<SlotRange> registers_read_unwritten(const Kernel& kernel, const Liveness& liveness);

}  // namespace cudal1::vgpu
