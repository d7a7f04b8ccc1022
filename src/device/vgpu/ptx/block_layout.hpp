// The instructions of a function in an order in which lanes that part meet again as early as they can.
#pragma once

#include "device/vgpu/ptx/function_flow.hpp"

namespace cudal1::vgpu {

//! In the flow's order: what follows a loop, or both ways of a branch, comes after them. The machine runs lanes with
//! the smallest program counter first, so a compiler's own layout, with the end of a loop above its middle, would keep
//! lanes apart that a GPU brings together. Branches are added where instructions no longer follow each other; what
//! cannot be reached comes last.
ptx::Function laid_out(const ptx::Function& function);
ptx::Module laid_out(const ptx::Module& module);

}  // namespace cudal1::vgpu
