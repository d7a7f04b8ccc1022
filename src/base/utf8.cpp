#include "base/utf8.hpp"

#include <cstdint>
#include <cstring>

namespace cudal1 {
namespace {

using Kind = Utf8Character::Kind;

unsigned char byte_at(std::string_view text, std::size_t index) { return static_cast<unsigned char>(text[index]); }

//! How many bytes a character has by its first one, 0 where none begins so; and which second bytes may follow, which is
//! where overlong forms, surrogates and what lies beyond U+10FFFF are kept out.
struct Lead {
  std::size_t bytes = 0;
  unsigned char second_low = 0x80, second_high = 0xBF;
};

Lead lead_of(unsigned char byte) {
  if (byte < 0x80) return {1};
  if (byte < 0xC2) return {0};
  if (byte < 0xE0) return {2};
  if (byte == 0xE0) return {3, 0xA0, 0xBF};
  if (byte == 0xED) return {3, 0x80, 0x9F};
  if (byte < 0xF0) return {3};
  if (byte == 0xF0) return {4, 0x90, 0xBF};
  if (byte < 0xF4) return {4};
  if (byte == 0xF4) return {4, 0x80, 0x8F};
  return {0};
}

//! How many bytes at the beginning are ASCII, in steps of eight.
std::size_t ascii_blocks(std::string_view text) {
  std::size_t length = 0;
  for (std::uint64_t block = 0; length + sizeof block <= text.size(); length += sizeof block) {
    std::memcpy(&block, text.data() + length, sizeof block);
    if (block & 0x8080808080808080ULL) break;
  }
  return length;
}

}  // namespace

Utf8Character first_character(std::string_view text) {
  const Lead lead = lead_of(byte_at(text, 0));
  if (lead.bytes == 0) return {Kind::invalid, 1};
  if (lead.bytes == 1) return {Kind::valid, 1, byte_at(text, 0)};
  char32_t code_point = byte_at(text, 0) & (0x7FU >> lead.bytes);
  for (std::size_t i = 1; i < lead.bytes; ++i) {
    if (i == text.size()) return {Kind::incomplete, i};
    const unsigned char low = i == 1 ? lead.second_low : 0x80, high = i == 1 ? lead.second_high : 0xBF;
    if (byte_at(text, i) < low || byte_at(text, i) > high) return {Kind::invalid, i};
    code_point = (code_point << 6) | (byte_at(text, i) & 0x3FU);
  }
  return {Kind::valid, lead.bytes, code_point};
}

bool is_valid_utf8(std::string_view text) {
  while (!text.empty()) {
    text.remove_prefix(ascii_blocks(text));
    if (text.empty()) return true;
    const Utf8Character character = first_character(text);
    if (character.kind != Kind::valid) return false;
    text.remove_prefix(character.bytes);
  }
  return true;
}

std::size_t append_characters(std::string_view bytes, std::string& text) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const Utf8Character character = first_character(bytes.substr(done));
    if (character.kind == Kind::incomplete) break;
    text += character.kind == Kind::valid ? bytes.substr(done, character.bytes) : replacement_character;
    done += character.bytes;
  }
  return done;
}

std::string replace_invalid_utf8(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  if (append_characters(bytes, text) < bytes.size()) text += replacement_character;
  return text;
}

void append_utf8(char32_t code_point, std::string& text) {
  const auto continuation = [&](int shift) { return static_cast<char>(0x80U | ((code_point >> shift) & 0x3FU)); };
  if (code_point < 0x80) {
    text += static_cast<char>(code_point);
  } else if (code_point < 0x800) {
    text += {static_cast<char>(0xC0U | (code_point >> 6)), continuation(0)};
  } else if (code_point < 0x10000) {
    text += {static_cast<char>(0xE0U | (code_point >> 12)), continuation(6), continuation(0)};
  } else {
    text += {static_cast<char>(0xF0U | (code_point >> 18)), continuation(12), continuation(6), continuation(0)};
  }
}

}  // namespace cudal1
