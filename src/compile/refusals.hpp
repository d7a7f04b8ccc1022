// Why a compiled program may not run, in words for its author.
#pragma once

#include <string>
#include <string_view>

namespace cudal1 {

std::string refused_global(std::string_view symbol);
std::string refused_constant(std::string_view symbol);
std::string refused_call(std::string_view symbol);

}  // namespace cudal1
