// PTX names a register for every value. Side by side these would fill the caches of the host's processor many times
// over, so that registers that are never wanted at the same time lie in one place.
#pragma once

#include "device/vgpu/machine/liveness.hpp"

namespace cudal1::vgpu {

//! Changes the slots of all steps and of everything else that names some. Not for kernels with calls, whose steps also
//! hold addresses where others have slots.
void pack_registers(Kernel& kernel, const Liveness& liveness);

}  // namespace cudal1::vgpu
