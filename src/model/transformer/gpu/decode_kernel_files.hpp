#pragma once

#include <string_view>
#include <vector>

namespace cudal1 {

//! The texts of kernels/, which are part of the program, in the order in which they need each other.
std::vector<std::string_view> decode_kernel_files();

}  // namespace cudal1
