#include "model/tokenizer/character_kinds.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include "base/utf8.hpp"

namespace cudal1 {
namespace {

enum class Kind { upper, lower, letter, mark, number, punctuation, symbol, format };

struct Range {
  char32_t first, last;
  Kind kind;
};

//! What Unicode 15, 15.1 and 16 added, and U+180E, in order; bench/generator/tokenizer_parity.py asks for every
//! character, so it would say what is missing here.
constexpr Range newer_ranges[] = {
    {0x897, 0x897, Kind::mark},
    {0xCF3, 0xCF3, Kind::mark},
    {0xECE, 0xECE, Kind::mark},
    {0x180E, 0x180E, Kind::format},
    {0x1B4E, 0x1B4F, Kind::punctuation},
    {0x1B7F, 0x1B7F, Kind::punctuation},
    {0x1C89, 0x1C89, Kind::upper},
    {0x1C8A, 0x1C8A, Kind::lower},
    {0x2427, 0x2429, Kind::symbol},
    {0x2FFC, 0x2FFF, Kind::symbol},
    {0x31E4, 0x31E5, Kind::symbol},
    {0x31EF, 0x31EF, Kind::symbol},
    {0xA7CB, 0xA7CC, Kind::upper},
    {0xA7CD, 0xA7CD, Kind::lower},
    {0xA7DA, 0xA7DA, Kind::upper},
    {0xA7DB, 0xA7DB, Kind::lower},
    {0xA7DC, 0xA7DC, Kind::upper},
    {0x105C0, 0x105F3, Kind::letter},
    {0x10D40, 0x10D49, Kind::number},
    {0x10D4A, 0x10D4F, Kind::letter},
    {0x10D50, 0x10D65, Kind::upper},
    {0x10D69, 0x10D6D, Kind::mark},
    {0x10D6E, 0x10D6E, Kind::punctuation},
    {0x10D6F, 0x10D6F, Kind::letter},
    {0x10D70, 0x10D85, Kind::lower},
    {0x10D8E, 0x10D8F, Kind::symbol},
    {0x10EC2, 0x10EC4, Kind::letter},
    {0x10EFC, 0x10EFF, Kind::mark},
    {0x1123F, 0x11240, Kind::letter},
    {0x11241, 0x11241, Kind::mark},
    {0x11380, 0x11389, Kind::letter},
    {0x1138B, 0x1138B, Kind::letter},
    {0x1138E, 0x1138E, Kind::letter},
    {0x11390, 0x113B5, Kind::letter},
    {0x113B7, 0x113B7, Kind::letter},
    {0x113B8, 0x113C0, Kind::mark},
    {0x113C2, 0x113C2, Kind::mark},
    {0x113C5, 0x113C5, Kind::mark},
    {0x113C7, 0x113CA, Kind::mark},
    {0x113CC, 0x113D0, Kind::mark},
    {0x113D1, 0x113D1, Kind::letter},
    {0x113D2, 0x113D2, Kind::mark},
    {0x113D3, 0x113D3, Kind::letter},
    {0x113D4, 0x113D5, Kind::punctuation},
    {0x113D7, 0x113D8, Kind::punctuation},
    {0x113E1, 0x113E2, Kind::mark},
    {0x116D0, 0x116E3, Kind::number},
    {0x11B00, 0x11B09, Kind::punctuation},
    {0x11BC0, 0x11BE0, Kind::letter},
    {0x11BE1, 0x11BE1, Kind::punctuation},
    {0x11BF0, 0x11BF9, Kind::number},
    {0x11F00, 0x11F01, Kind::mark},
    {0x11F02, 0x11F02, Kind::letter},
    {0x11F03, 0x11F03, Kind::mark},
    {0x11F04, 0x11F10, Kind::letter},
    {0x11F12, 0x11F33, Kind::letter},
    {0x11F34, 0x11F3A, Kind::mark},
    {0x11F3E, 0x11F42, Kind::mark},
    {0x11F43, 0x11F4F, Kind::punctuation},
    {0x11F50, 0x11F59, Kind::number},
    {0x11F5A, 0x11F5A, Kind::mark},
    {0x1342F, 0x1342F, Kind::letter},
    {0x13440, 0x13440, Kind::mark},
    {0x13441, 0x13446, Kind::letter},
    {0x13447, 0x13455, Kind::mark},
    {0x13460, 0x143FA, Kind::letter},
    {0x16100, 0x1611D, Kind::letter},
    {0x1611E, 0x1612F, Kind::mark},
    {0x16130, 0x16139, Kind::number},
    {0x16D40, 0x16D6C, Kind::letter},
    {0x16D6D, 0x16D6F, Kind::punctuation},
    {0x16D70, 0x16D79, Kind::number},
    {0x18CFF, 0x18CFF, Kind::letter},
    {0x1B132, 0x1B132, Kind::letter},
    {0x1B155, 0x1B155, Kind::letter},
    {0x1CC00, 0x1CCEF, Kind::symbol},
    {0x1CCF0, 0x1CCF9, Kind::number},
    {0x1CD00, 0x1CEB3, Kind::symbol},
    {0x1D2C0, 0x1D2D3, Kind::number},
    {0x1DF25, 0x1DF2A, Kind::lower},
    {0x1E030, 0x1E06D, Kind::letter},
    {0x1E08F, 0x1E08F, Kind::mark},
    {0x1E4D0, 0x1E4EB, Kind::letter},
    {0x1E4EC, 0x1E4EF, Kind::mark},
    {0x1E4F0, 0x1E4F9, Kind::number},
    {0x1E5D0, 0x1E5ED, Kind::letter},
    {0x1E5EE, 0x1E5EF, Kind::mark},
    {0x1E5F0, 0x1E5F0, Kind::letter},
    {0x1E5F1, 0x1E5FA, Kind::number},
    {0x1E5FF, 0x1E5FF, Kind::punctuation},
    {0x1F6DC, 0x1F6DC, Kind::symbol},
    {0x1F774, 0x1F776, Kind::symbol},
    {0x1F77B, 0x1F77F, Kind::symbol},
    {0x1F7D9, 0x1F7D9, Kind::symbol},
    {0x1F8B2, 0x1F8BB, Kind::symbol},
    {0x1F8C0, 0x1F8C1, Kind::symbol},
    {0x1FA75, 0x1FA77, Kind::symbol},
    {0x1FA87, 0x1FA89, Kind::symbol},
    {0x1FA8F, 0x1FA8F, Kind::symbol},
    {0x1FAAD, 0x1FAAF, Kind::symbol},
    {0x1FABB, 0x1FABF, Kind::symbol},
    {0x1FAC6, 0x1FAC6, Kind::symbol},
    {0x1FACE, 0x1FACF, Kind::symbol},
    {0x1FADA, 0x1FADC, Kind::symbol},
    {0x1FADF, 0x1FADF, Kind::symbol},
    {0x1FAE8, 0x1FAE9, Kind::symbol},
    {0x1FAF7, 0x1FAF8, Kind::symbol},
    {0x1FBCB, 0x1FBEF, Kind::symbol},
    {0x2B739, 0x2B739, Kind::letter},
    {0x2EBF0, 0x2EE5D, Kind::letter},
    {0x31350, 0x323AF, Kind::letter},
};

struct StandIns {
  std::string_view of_3_bytes, of_4_bytes;
};

//! By kind: one that has been in Unicode for long.
constexpr std::array<StandIns, 8> stand_ins{{
    {"\u1E00", "\U00010400"},  // upper
    {"\u1E01", "\U00010428"},  // lower
    {"\u4E00", "\U00020000"},  // letter
    {"\u0900", "\U00011001"},  // mark
    {"\u0966", "\U0001D7CE"},  // number
    {"\u203B", "\U00010100"},  // punctuation
    {"\u2100", "\U0001F600"},  // symbol
    {"\u200B", "\U000110BD"},  // format
}};

const Range* range_of(char32_t code_point) {
  const auto* range = std::ranges::lower_bound(newer_ranges, code_point, {}, &Range::last);
  return range == std::end(newer_ranges) || code_point < range->first ? nullptr : range;
}

std::optional<std::string_view> stand_in_for(char32_t code_point, std::size_t bytes) {
  const Range* range = range_of(code_point);
  if (!range) return std::nullopt;
  const StandIns& by_length = stand_ins[static_cast<std::size_t>(range->kind)];
  return bytes == 3 ? by_length.of_3_bytes : by_length.of_4_bytes;
}

}  // namespace

std::optional<std::string> with_known_characters(std::string_view text) {
  std::optional<std::string> known;
  for (std::size_t at = 0; at < text.size();) {
    if (static_cast<unsigned char>(text[at]) < 0xE0) {  // all of them take three bytes or four
      ++at;
      continue;
    }
    const Utf8Character character = first_character(text.substr(at));
    if (const auto stand_in = stand_in_for(character.code_point, character.bytes)) {
      if (!known) known.emplace(text);
      known->replace(at, character.bytes, *stand_in);
    }
    at += character.bytes;
  }
  return known;
}

bool is_newer_character(char32_t code_point) { return range_of(code_point) != nullptr; }

std::string_view number_pattern() { return R"([\p{N}\x{11DE0}-\x{11DE9}\x{16FF4}-\x{16FF6}])"; }

}  // namespace cudal1
