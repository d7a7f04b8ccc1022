// Patterns ask for kinds of characters (letters, numbers, space), and answers depend on the Unicode version of who is
// asked. Those that trained and serve these models ask Oniguruma (Unicode 16); PCRE2 may know Unicode 14 only, and
// calls one character a space (U+180E) that is none. So PCRE2 is shown an older character of the right kind instead.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace cudal1 {

//! The same text for matching, byte for byte at the same places, in which an older character of the same kind and
//! length stands for each that PCRE2 may not know; nothing where there is none of these. The text is valid UTF-8.
std::optional<std::string> with_known_characters(std::string_view text);

//! Of Unicode 15 to 16, or U+180E.
bool is_newer_character(char32_t code_point);

//! Numbers as Rust's standard library has them, which decides on single digits: Oniguruma's and those of Unicode 17.
std::string_view number_pattern();

}  // namespace cudal1
