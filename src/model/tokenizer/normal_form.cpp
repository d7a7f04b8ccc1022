#include "model/tokenizer/normal_form.hpp"

#include <fmt/format.h>
#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <vector>

#include "base/result.hpp"
#include "base/utf8.hpp"
#include "model/tokenizer/character_kinds.hpp"

namespace cudal1 {
namespace {

struct Range {
  char32_t first, last;
};

//! What composes or is ordered since some version after Unicode 9 up to 14; later ones are newer characters anyway.
constexpr Range unordered_ranges[] = {
    {0x7FD, 0x7FD},     {0x898, 0x89F},     {0x8CA, 0x8D3},     {0x9FE, 0x9FE},     {0xC3C, 0xC3C},
    {0xD3B, 0xD3C},     {0xEBA, 0xEBA},     {0x1715, 0x1715},   {0x1ABF, 0x1ACE},   {0x1DF6, 0x1DFA},
    {0xA82C, 0xA82C},   {0x10D24, 0x10D27}, {0x10EAB, 0x10EAC}, {0x10F46, 0x10F50}, {0x10F82, 0x10F85},
    {0x11070, 0x11070}, {0x1133B, 0x1133B}, {0x1145E, 0x1145E}, {0x11839, 0x1183A}, {0x11930, 0x11930},
    {0x11935, 0x11935}, {0x11938, 0x11938}, {0x1193D, 0x1193E}, {0x11943, 0x11943}, {0x119E0, 0x119E0},
    {0x11A34, 0x11A34}, {0x11A47, 0x11A47}, {0x11A99, 0x11A99}, {0x11D42, 0x11D42}, {0x11D44, 0x11D45},
    {0x11D97, 0x11D97}, {0x16FF0, 0x16FF1}, {0x1E130, 0x1E136}, {0x1E2AE, 0x1E2AE}, {0x1E2EC, 0x1E2EF}};

bool stays_as_it_is(char32_t code_point) {
  const auto* range = std::ranges::lower_bound(unordered_ranges, code_point, {}, &Range::last);
  return (range != std::end(unordered_ranges) && code_point >= range->first) || is_newer_character(code_point);
}

//! A character of a valid text and the order that Unicode gives to marks (0: it is no mark).
struct OrderedCharacter {
  std::string_view bytes;
  utf8proc_propval_t order = 0;
};

OrderedCharacter first_ordered(std::string_view text) {
  const Utf8Character character = first_character(text);
  const auto code_point = static_cast<utf8proc_int32_t>(character.code_point);
  return {text.substr(0, character.bytes), utf8proc_get_property(code_point)->combining_class};
}

//! utf8proc takes the square of a run of marks to sort it, so a text could keep us busy for hours; sorting them first
//! does not change what they compose to. More marks than this on one character are no language's.
std::string with_long_runs_sorted(std::string_view text) {
  constexpr std::size_t most_real_marks = 30;
  std::string sorted;
  sorted.reserve(text.size());
  std::vector<OrderedCharacter> run;
  const auto end_run = [&] {
    if (run.size() > most_real_marks) std::ranges::stable_sort(run, {}, &OrderedCharacter::order);
    for (const OrderedCharacter& mark : run) sorted += mark.bytes;
    run.clear();
  };
  while (!text.empty()) {
    const OrderedCharacter character = first_ordered(text);
    text.remove_prefix(character.bytes.size());
    if (character.order != 0) {
      run.push_back(character);
    } else {
      end_run();
      sorted += character.bytes;
    }
  }
  end_run();
  return sorted;
}

std::string composed_part(std::string_view original) {
  const std::string text = with_long_runs_sorted(original);
  utf8proc_uint8_t* bytes = nullptr;
  const auto size =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()), static_cast<utf8proc_ssize_t>(text.size()),
                   &bytes, static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  const std::unique_ptr<utf8proc_uint8_t, void (*)(void*)> owner(bytes, std::free);
  if (size < 0) throw Error(fmt::format("a text cannot be normalised: {}", utf8proc_errmsg(size)));
  return std::string(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
}

}  // namespace

bool is_surely_composed(std::string_view text) {
  constexpr unsigned char lead_of_0300 = 0xCC;
  return std::ranges::none_of(text, [](char byte) { return static_cast<unsigned char>(byte) >= lead_of_0300; });
}

std::string composed(std::string_view text) {
  if (is_surely_composed(text)) return std::string(text);
  std::string result;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Character character = first_character(text.substr(at));
    const std::size_t end = at + character.bytes;
    if (stays_as_it_is(character.code_point)) {
      result += composed_part(text.substr(begin, at - begin));
      result += text.substr(at, character.bytes);
      begin = end;
    }
    at = end;
  }
  return result + composed_part(text.substr(begin));
}

}  // namespace cudal1
