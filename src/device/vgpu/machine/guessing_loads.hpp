// Loads that only guess: the read before a loop of compare-and-swaps.
#pragma once

#include <set>

#include "device/vgpu/ptx/syntax.hpp"

namespace cudal1::vgpu {

//! Those of a function whose value goes to a compare-and-swap as what it expects to find. Where others have changed the
//! memory meanwhile it finds out, so that such a read may meet atomics.
std::set<const ptx::Instruction*> guessing_loads(const ptx::Function& function);

}  // namespace cudal1::vgpu
