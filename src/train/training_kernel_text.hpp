#pragma once

#include <string_view>

namespace cudal1 {

//! The text of kernels/rows.cu, which is part of the program.
std::string_view training_kernel_text();

}  // namespace cudal1
