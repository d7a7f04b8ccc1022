// Ranges of characters become ranges of bytes without losing or adding a character.
#include "model/grammar/utf8_ranges.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.hpp"
#include "base/utf8.hpp"

namespace cudal1 {
namespace {

std::string utf8(char32_t character) {
  std::string bytes;
  append_utf8(character, bytes);
  return bytes;
}

bool is_in(const ByteSequence& sequence, const std::string& bytes) {
  if (static_cast<int>(bytes.size()) != sequence.length) return false;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const auto byte = static_cast<std::uint8_t>(bytes[i]);
    if (byte < sequence.bytes[i].first || byte > sequence.bytes[i].last) return false;
  }
  return true;
}

std::int64_t characters_of(const std::vector<ByteSequence>& sequences) {
  std::int64_t count = 0;
  for (const ByteSequence& sequence : sequences) {
    std::int64_t choices = 1;
    for (std::size_t i = 0; i < static_cast<std::size_t>(sequence.length); ++i)
      choices *= sequence.bytes[i].last - sequence.bytes[i].first + 1;
    count += choices;
  }
  return count;
}

TEST(Utf8, EveryCharacterIsReadAsItWasWritten) {
  for (char32_t character = 0; character <= last_code_point; ++character) {
    if (character == first_surrogate) character = last_surrogate + 1;
    const std::string bytes = utf8(character);
    const Utf8Character read = first_character(bytes);
    ASSERT_EQ(read.kind, Utf8Character::Kind::valid) << static_cast<std::uint32_t>(character);
    ASSERT_EQ(read.code_point, character);
    ASSERT_EQ(read.bytes, bytes.size());
  }
}

TEST(Utf8Ranges, CoverExactlyTheCharactersOfARange) {
  Random random(3);
  std::vector<CharacterRange> ranges = {{0, last_code_point}, {0x7F, 0x80},     {0x7FF, 0x800}, {0xFFFF, 0x10000},
                                        {0xD7FF, 0xE000},     {0xD800, 0xDFFF}, {0x41, 0x41}};
  for (int i = 0; i < 200; ++i) {
    const auto first = static_cast<char32_t>(random.below(last_code_point + 1));
    ranges.push_back({first, first + static_cast<char32_t>(random.below(last_code_point + 1 - first))});
  }
  for (const CharacterRange& range : ranges) {
    const std::vector<ByteSequence> sequences = byte_sequences(range);
    std::int64_t expected = 0;
    // In full where the range is short, and around its ends else: the count says that nothing else is in it.
    for (char32_t character = range.first; character <= range.last; ++character) {
      if (character >= first_surrogate && character <= last_surrogate) continue;
      ++expected;
      if (character - range.first > 5000 && range.last - character > 5000) continue;
      const std::string bytes = utf8(character);
      ASSERT_EQ(std::ranges::count_if(sequences, [&](const ByteSequence& s) { return is_in(s, bytes); }), 1);
    }
    EXPECT_EQ(characters_of(sequences), expected);
    EXPECT_LE(sequences.size(), 20u);
  }
}

}  // namespace
}  // namespace cudal1
