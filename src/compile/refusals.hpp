// Why a compiled program may not run, in words for its author.
#pragma once

#include <string>
#include <string_view>

namespace cudal1 {

//! What programs see of a mangled name.
std::string readable_name(std::string_view symbol);

std::string refused_global(std::string_view symbol);
std::string refused_constant(std::string_view symbol);
std::string refused_call(std::string_view symbol);

}  // namespace cudal1
