#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace cudal1 {

//! The directive lines of a program, each on one line and without comments. Nothing where the program has code of its
//! own, which directives alone would not run, or is no text.
std::optional<std::string> directives_alone(std::string_view program);

}  // namespace cudal1
