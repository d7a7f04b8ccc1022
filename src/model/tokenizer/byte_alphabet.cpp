#include "model/tokenizer/byte_alphabet.hpp"

#include <array>

#include "base/utf8.hpp"

namespace cudal1 {
namespace {

//! Bytes that are printable as Latin-1 stand for themselves; the others follow each other from U+0100 on.
bool stands_for_itself(unsigned byte) {
  return (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

constexpr char32_t first_replaced = 0x100, letters_end = first_replaced + 68;

struct Alphabet {
  std::array<std::string, 256> letters;
  std::array<int, letters_end> bytes{};  //!< by code point; -1: not of the alphabet
};

const Alphabet& alphabet() {
  static const Alphabet made = [] {
    Alphabet result;
    result.bytes.fill(-1);
    char32_t next = first_replaced;
    for (unsigned byte = 0; byte < 256; ++byte) {
      const char32_t letter = stands_for_itself(byte) ? byte : next++;
      append_utf8(letter, result.letters[byte]);
      result.bytes[letter] = static_cast<int>(byte);
    }
    return result;
  }();
  return made;
}

}  // namespace

std::string_view letter_of_byte(unsigned char byte) { return alphabet().letters[byte]; }

std::optional<std::string> bytes_of_letters(std::string_view token) {
  std::string bytes;
  while (!token.empty()) {
    const Utf8Character letter = first_character(token);
    if (letter.kind != Utf8Character::Kind::valid || letter.code_point >= letters_end) return std::nullopt;
    const int byte = alphabet().bytes[letter.code_point];
    if (byte < 0) return std::nullopt;
    bytes += static_cast<char>(byte);
    token.remove_prefix(letter.bytes);
  }
  return bytes;
}

}  // namespace cudal1
