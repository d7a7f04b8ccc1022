// Registers of a PTX function that hold a value which somebody will read.
#pragma once

#include "device/vgpu/ptx/function_flow.hpp"

namespace cudal1::vgpu {

//! The most 32-bit words that are live at once, without what machine code takes from constant memory or carries inside
//! its instructions.
std::uint32_t most_live_words(const ptx::Function& function, const FunctionFlow& flow);

}  // namespace cudal1::vgpu
