// Loads of neighbouring words of shared memory that the assembler makes one load of.
#pragma once

#include "device/vgpu/ptx/syntax.hpp"

namespace cudal1::vgpu {

//! Loads of one word each, as written, for every one that is left of them: up to 4. Those with the same base register
//! and neighbouring offsets between two barriers, stores or branches become one of 8 or 16 bytes; inner loops count
//! more. 1 where there are none.
double shared_load_width(const ptx::Function& function);

}  // namespace cudal1::vgpu
