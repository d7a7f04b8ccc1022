#include "model/grammar/utf8_ranges.hpp"

#include <algorithm>

namespace cudal1 {
namespace {

//! The last code points of one, two, three and four bytes.
constexpr std::array<char32_t, 4> last_of_length = {0x7F, 0x7FF, 0xFFFF, last_code_point};

std::uint8_t byte_of(char32_t bits) { return static_cast<std::uint8_t>(bits); }

std::array<std::uint8_t, 4> encode(char32_t code_point, int length) {
  if (length == 1) return {byte_of(code_point)};
  constexpr std::array<char32_t, 5> lead_marks = {0, 0, 0xC0, 0xE0, 0xF0};
  std::array<std::uint8_t, 4> bytes{};
  for (int i = length - 1; i > 0; --i, code_point >>= 6)
    bytes[static_cast<std::size_t>(i)] = byte_of(0x80 | (code_point & 0x3F));
  bytes[0] = byte_of(lead_marks[static_cast<std::size_t>(length)] | code_point);
  return bytes;
}

void add_sequence(char32_t first, char32_t last, int length, std::vector<ByteSequence>& sequences) {
  const auto low = encode(first, length), high = encode(last, length);
  ByteSequence sequence;
  sequence.length = length;
  for (std::size_t i = 0; i < static_cast<std::size_t>(length); ++i) sequence.bytes[i] = {low[i], high[i]};
  sequences.push_back(sequence);
}

//! All of one length. Cut where the trailing bytes do not run through all their values, so that bytes can be chosen
//! independently of each other.
void add_of_length(char32_t first, char32_t last, int length, std::vector<ByteSequence>& sequences) {
  for (int trailing = 1; trailing < length; ++trailing) {
    const char32_t mask = (char32_t{1} << (6 * trailing)) - 1;
    if ((first & ~mask) == (last & ~mask)) continue;
    if ((first & mask) != 0) {
      add_of_length(first, first | mask, length, sequences);
      return add_of_length((first | mask) + 1, last, length, sequences);
    }
    if ((last & mask) != mask) {
      add_of_length(first, (last & ~mask) - 1, length, sequences);
      return add_of_length(last & ~mask, last, length, sequences);
    }
  }
  add_sequence(first, last, length, sequences);
}

void add_range(char32_t first, char32_t last, std::vector<ByteSequence>& sequences) {
  char32_t begin = 0;
  for (std::size_t i = 0; i < last_of_length.size(); begin = last_of_length[i++] + 1) {
    const char32_t from = std::max(first, begin), to = std::min(last, last_of_length[i]);
    if (from <= to) add_of_length(from, to, static_cast<int>(i) + 1, sequences);
  }
}

}  // namespace

std::vector<ByteSequence> byte_sequences(CharacterRange range) {
  std::vector<ByteSequence> sequences;
  if (range.first < first_surrogate)
    add_range(range.first, std::min<char32_t>(range.last, first_surrogate - 1), sequences);
  if (range.last > last_surrogate)
    add_range(std::max<char32_t>(range.first, last_surrogate + 1), range.last, sequences);
  return sequences;
}

}  // namespace cudal1
