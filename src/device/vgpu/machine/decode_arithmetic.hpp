// PTX instructions that only compute -> Operations.
#pragma once

#include "device/vgpu/machine/register_map.hpp"

namespace cudal1::vgpu {

//! Throws PtxError: an opcode that is not known, by its name; operands that do not fit it.
Operation decode_arithmetic(const ptx::Instruction& instruction, RegisterMap& registers);

}  // namespace cudal1::vgpu
