#pragma once

#include <map>
#include <string>

namespace cudal1 {

//! Small device versions of the C and C++ headers that programs include by habit: name as included -> text.
const std::map<std::string, std::string>& host_headers();

//! Included before every program: what nvcc gives without any include (uint32_t, INFINITY, INT_MAX …).
constexpr const char* prelude_header_name = "cudal1_prelude.h";

}  // namespace cudal1
