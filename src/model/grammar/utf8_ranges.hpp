// Characters as bytes: UTF-8, and which bytes the characters of a range begin with and go on with.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/grammar/grammar_rules.hpp"

namespace cudal1 {

inline constexpr char32_t last_code_point = 0x10FFFF;
inline constexpr char32_t first_surrogate = 0xD800, last_surrogate = 0xDFFF;

struct ByteRange {
  std::uint8_t first = 0, last = 0;
  bool operator==(const ByteRange&) const = default;
};

//! Every choice of one byte from each range is a character.
struct ByteSequence {
  std::array<ByteRange, 4> bytes;
  int length = 0;
};

//! The code point must be none of the surrogates.
std::string utf8(char32_t code_point);

//! The character at `at`, which is moved behind it; false where the text is not UTF-8 (Unicode 15, table 3-7).
bool read_utf8(std::string_view text, std::size_t& at, char32_t& code_point);

//! All characters of the range, each in one sequence only; surrogates are left out.
std::vector<ByteSequence> byte_sequences(CharacterRange range);

}  // namespace cudal1
