#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compile/nvrtc_location.hpp"

namespace cudal1 {

//! How programs are compiled for a target ("sm_90").
std::vector<std::string> nvrtc_options(std::string_view source, std::string_view target, const NvrtcLocation& nvrtc);

}  // namespace cudal1
