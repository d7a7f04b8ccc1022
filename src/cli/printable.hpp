// What others wrote (names of tasks and files, texts of programs, messages of libraries) as it goes to a terminal.
#pragma once

#include <string>
#include <string_view>

namespace cudal1 {

//! Control characters, characters that end lines or turn the direction of writing, and bytes that are no UTF-8, written
//! as \n, \x1b, \u2028 …
std::string printable(std::string_view text);

//! The first line of a message. Line ends within quotation marks belong to a name and are escaped like the rest.
std::string one_line(std::string_view message);

//! Line ends and tabs stay, the rest is escaped.
std::string printable_lines(std::string_view text);

}  // namespace cudal1
