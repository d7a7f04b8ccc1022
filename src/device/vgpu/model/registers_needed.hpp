// How many registers a thread of a kernel will have: an estimate of what NVIDIA's assembler decides.
#pragma once

#include "device/vgpu/ptx/syntax.hpp"

namespace cudal1::vgpu {

//! The most 32-bit words that are live at once, without what the assembler reads from constant memory or writes into
//! instructions; more for loads that it brings together, and the few registers that it always takes; within what
//! .maxntid, .minnctapersm and .maxnreg leave.
std::uint32_t registers_needed(const ptx::Function& function);

}  // namespace cudal1::vgpu
