#pragma once

#include <string>
#include <string_view>

namespace cudal1 {

//! What authors of programs see of a mangled name.
std::string readable_name(std::string_view symbol);

}  // namespace cudal1
