// One instruction: its guard, its name and what it works on.
#pragma once

#include "device/vgpu/ptx/scopes.hpp"
#include "device/vgpu/ptx/token_reader.hpp"

namespace cudal1::ptx {

//! @!%p1 ld.global.v2.f32 {%f1, %f2}, [%rd1+-8];
Instruction read_instruction(TokenReader& tokens, const Scopes& scopes, const Location& at_source);

}  // namespace cudal1::ptx
