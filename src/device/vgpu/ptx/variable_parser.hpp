// Declarations of variables: where they lie, how large they are, what they begin with.
#pragma once

#include <vector>

#include "device/vgpu/ptx/token_reader.hpp"

namespace cudal1::ptx {

//! .shared .align 16 .b8 a[64], b[64];
std::vector<Variable> read_variables(TokenReader& tokens, bool external);

//! (.param .b64 a, .param .b32 b)
std::vector<Variable> read_parameters(TokenReader& tokens);

}  // namespace cudal1::ptx
