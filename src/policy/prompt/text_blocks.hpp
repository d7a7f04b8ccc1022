// Text of users, tasks and models inside a prompt: it must end where we say that it ends.
#pragma once

#include <string>
#include <string_view>

namespace cudal1 {

//! A block between fences that are longer than every row of backticks in the text, so that it cannot close it.
std::string fenced(std::string_view text, std::string_view language);

//! White space and control characters folded to single spaces; nothing at either end.
std::string on_one_line(std::string_view text);

}  // namespace cudal1
