#include "cli/printable.hpp"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <cstdint>
#include <optional>

namespace cudal1 {
namespace {

struct Character {
  char32_t code = 0;
  std::size_t bytes = 1;
};

//! The UTF-8 character that `text` starts with; nothing if there is none.
std::optional<Character> first_character(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80) return Character{lead, 1};
  const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < bytes) return std::nullopt;
  char32_t code = lead & (0x7Fu >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xC0u) != 0x80u) return std::nullopt;
    code = (code << 6) | (next & 0x3Fu);
  }
  constexpr std::array<char32_t, 5> least = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (code < least[bytes] || code > 0x10FFFF || surrogate) return std::nullopt;
  return Character{code, bytes};
}

//! Ends a line, moves the cursor, or makes what follows look like something else.
bool misleads(char32_t code) {
  struct Range {
    char32_t first, last;
  };
  constexpr std::array<Range, 9> ranges = {{{0x00, 0x1F},
                                            {0x7F, 0x9F},
                                            {0x061C, 0x061C},
                                            {0x200B, 0x200F},
                                            {0x2028, 0x202E},
                                            {0x2060, 0x206F},
                                            {0xFEFF, 0xFEFF},
                                            {0xFFF9, 0xFFFB},
                                            {0xE0000, 0xE007F}}};
  for (const Range& range : ranges)
    if (code >= range.first && code <= range.last) return true;
  return false;
}

std::string escape(char32_t code) {
  if (code == '\n') return "\\n";
  if (code == '\r') return "\\r";
  if (code == '\t') return "\\t";
  const auto number = static_cast<std::uint32_t>(code);
  return code < 0x80 ? fmt::format("\\x{:02x}", number) : fmt::format("\\u{:04x}", number);
}

std::string escaped(std::string_view text, std::string_view kept) {
  std::string result;
  while (!text.empty()) {
    const auto character = first_character(text);
    const std::size_t bytes = character ? character->bytes : 1;
    if (!character)
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(text.front()));
    else if (misleads(character->code) && kept.find(text.front()) == std::string_view::npos)
      result += escape(character->code);
    else
      result += text.substr(0, bytes);
    text.remove_prefix(bytes);
  }
  return result;
}

//! Where the quotation that opens at `open` ends; `open` itself if it is none (an apostrophe, a mark without its like).
std::size_t quotation_end(std::string_view text, std::size_t open) {
  const char mark = text[open];
  const bool behind_a_letter = open > 0 && std::isalnum(static_cast<unsigned char>(text[open - 1])) != 0;
  if ((mark != '"' && mark != '\'') || behind_a_letter) return open;
  const std::size_t close = text.find(mark, open + 1);
  return close == std::string_view::npos ? open : close;
}

}  // namespace

std::string printable(std::string_view text) { return escaped(text, ""); }

std::string printable_lines(std::string_view text) { return escaped(text, "\n\t"); }

std::string one_line(std::string_view message) {
  std::size_t end = 0;
  while (end < message.size() && message[end] != '\n') end = quotation_end(message, end) + 1;
  return printable(message.substr(0, end));
}

}  // namespace cudal1
