#pragma once

#include <string_view>

namespace cudal1 {

//! The line of the program that line `ptx_line` of its PTX comes from, by the `.loc` above it in the same function;
//! both count from 1. 0: unknown.
int source_line_of(std::string_view ptx, int ptx_line);

}  // namespace cudal1
