#include "base/utf8.hpp"

#include <gtest/gtest.h>

#include "model/tokenizer/byte_alphabet.hpp"

namespace cudal1 {
namespace {

TEST(Utf8, ReplacesInvalidBytesAsPythonDoes) {
  // bytes.decode(errors="replace") of Python on the right
  EXPECT_EQ(replace_invalid_utf8("a\xF1\x80\x80\xE1\x80\xC2"
                                 "b\x80"
                                 "c\x80\xBF"
                                 "d"),
            "a\uFFFD\uFFFD\uFFFDb\uFFFDc\uFFFD\uFFFDd");
  EXPECT_EQ(replace_invalid_utf8("\xC0\xAF"), "\uFFFD\uFFFD");                      // overlong
  EXPECT_EQ(replace_invalid_utf8("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD");            // a surrogate
  EXPECT_EQ(replace_invalid_utf8("\xF4\x90\x80\x80"), "\uFFFD\uFFFD\uFFFD\uFFFD");  // beyond U+10FFFF
  EXPECT_EQ(replace_invalid_utf8("x\xF0\x9F\x99"), "x\uFFFD");                      // cut short
  EXPECT_EQ(replace_invalid_utf8("\xFF\xFE"), "\uFFFD\uFFFD");
}

TEST(Utf8, TellsValidFromInvalid) {
  EXPECT_TRUE(is_valid_utf8(""));
  EXPECT_TRUE(is_valid_utf8("0123456789 plain é 漢 🙂 \U0010FFFF"));
  EXPECT_FALSE(is_valid_utf8("01234567\x80"));
  EXPECT_FALSE(is_valid_utf8("é\xC3"));
  EXPECT_FALSE(is_valid_utf8("\xE0\x80\x80"));
}

TEST(Utf8, WritesWhatItReads) {
  for (const char32_t code_point : {0x24U, 0x7FU, 0x80U, 0x7FFU, 0x800U, 0xD7FFU, 0xFFFFU, 0x10000U, 0x10FFFFU}) {
    std::string text;
    append_utf8(code_point, text);
    const Utf8Character character = first_character(text);
    EXPECT_EQ(character.kind, Utf8Character::Kind::valid);
    EXPECT_EQ(character.code_point, code_point);
    EXPECT_EQ(character.bytes, text.size());
  }
}

TEST(ByteAlphabet, HasALetterForEveryByteAndBack) {
  for (unsigned byte = 0; byte < 256; ++byte) {
    const std::string_view letter = letter_of_byte(static_cast<unsigned char>(byte));
    EXPECT_EQ(bytes_of_letters(letter), std::string(1, static_cast<char>(byte))) << byte;
  }
}

TEST(ByteAlphabet, IsGpt2s) {
  EXPECT_EQ(letter_of_byte(' '), "Ġ");
  EXPECT_EQ(letter_of_byte('\n'), "Ċ");
  EXPECT_EQ(letter_of_byte('a'), "a");
  EXPECT_EQ(letter_of_byte(0xAD), "Ń");
  EXPECT_EQ(letter_of_byte(0xFF), "ÿ");
  EXPECT_EQ(bytes_of_letters("ĠÃ©"), " é");
}

TEST(ByteAlphabet, KnowsWhatIsNotOfIt) {
  EXPECT_FALSE(bytes_of_letters("two words"));
  EXPECT_FALSE(bytes_of_letters("漢"));
}

}  // namespace
}  // namespace cudal1
