// UTF-8 read character by character. What is not valid is cut as Unicode recommends and Python's errors="replace" does:
// each longest beginning of a character that goes wrong becomes one U+FFFD.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace cudal1 {

struct Utf8Character {
  enum class Kind {
    valid,
    invalid,    //!< `bytes` of it are to be replaced by one U+FFFD
    incomplete  //!< all that is there begins a character whose end may still come
  };
  Kind kind = Kind::invalid;
  std::size_t bytes = 0;
  char32_t code_point = 0;  //!< of a valid one
};

inline constexpr std::string_view replacement_character = "\xEF\xBF\xBD";

//! The first character of a text that is not empty.
Utf8Character first_character(std::string_view text);

bool is_valid_utf8(std::string_view text);

//! Appends the characters of `bytes` and returns how many bytes that took: those of an unfinished character at the end
//! remain for later.
std::size_t append_characters(std::string_view bytes, std::string& text);

//! All of it, an unfinished character at the end replaced as well.
std::string replace_invalid_utf8(std::string_view bytes);

void append_utf8(char32_t code_point, std::string& text);

}  // namespace cudal1
