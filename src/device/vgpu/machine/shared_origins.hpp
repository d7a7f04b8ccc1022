// Which array of shared memory an address was made from, as far as the text says so for sure.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "device/vgpu/ptx/syntax.hpp"

namespace cudal1::vgpu {

//! Registers of the function that can only hold an address of one array plus or minus something, with the array's name.
//! What was chosen between two arrays, masked, or came through memory or a call has no origin.
std::map<std::string, std::string> shared_origins(const ptx::Function& function,
                                                  const std::function<bool(const std::string&)>& is_shared_array);

}  // namespace cudal1::vgpu
