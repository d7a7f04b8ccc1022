// PTX tokens -> a Module. Nothing is guessed: what the grammar here does not know is an error with its line.
#pragma once

#include <string_view>

#include "device/vgpu/ptx/lexer.hpp"
#include "device/vgpu/ptx/syntax.hpp"

namespace cudal1::ptx {

//! Throws PtxError. Names inside nested braces are made unique with a number: param0 -> param0#2.
Module parse(std::string_view ptx);

}  // namespace cudal1::ptx
