// Kernels and functions: parameters, limits, and the statements between their braces.
#pragma once

#include "device/vgpu/ptx/token_reader.hpp"

namespace cudal1::ptx {

//! From behind .entry or .func to its closing brace, or to the semicolon of a declaration.
Function read_function(TokenReader& tokens, bool is_entry);

}  // namespace cudal1::ptx
