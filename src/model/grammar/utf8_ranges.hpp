// Characters as bytes of UTF-8: which bytes the characters of a range begin with and go on with.
#pragma once

#include <array>
#include <cstdint>
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

//! All characters of the range, each in one sequence only; surrogates are left out.
std::vector<ByteSequence> byte_sequences(CharacterRange range);

}  // namespace cudal1
