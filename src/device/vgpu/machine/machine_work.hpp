// What NVIDIA's assembler makes of an instruction of PTX, roughly: the timing model counts what a GPU would issue.
#pragma once

#include <array>

#include "device/vgpu/machine/counters.hpp"
#include "device/vgpu/ptx/syntax.hpp"

namespace cudal1::vgpu {

//! Machine instructions of one PTX instruction, by Pipe. Halves mean that it vanishes about every other time.
using MachineWork = std::array<float, pipe_count>;

//! Moves and parameters vanish into operands; 64-bit integers take two or more instructions; divisions and exact roots
//! are short programs.
MachineWork machine_work_of(const ptx::Instruction& instruction);

}  // namespace cudal1::vgpu
