#pragma once

#include <string>
#include <string_view>

namespace cudal1 {

//! Whether a valid UTF-8 text needs no look at: no character from U+0300 on, below which nothing composes.
bool is_surely_composed(std::string_view text);

//! Unicode's normal form C of a valid UTF-8 text, as those have it that trained and serve these models: their tables
//! are of Unicode 9, so what came later stays as it is, where it is.
std::string composed(std::string_view text);

}  // namespace cudal1
