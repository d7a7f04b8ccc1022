#include "model/tokenizer/normal_form.hpp"

#include <fmt/format.h>
#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <vector>

#include "base/result.hpp"
#include "model/tokenizer/utf8.hpp"

namespace cudal1 {
namespace {

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

}  // namespace

bool is_surely_composed(std::string_view text) {
  constexpr unsigned char lead_of_0300 = 0xCC;
  return std::ranges::none_of(text, [](char byte) { return static_cast<unsigned char>(byte) >= lead_of_0300; });
}

std::string composed(std::string_view original) {
  if (is_surely_composed(original)) return std::string(original);
  const std::string text = with_long_runs_sorted(original);
  utf8proc_uint8_t* bytes = nullptr;
  const auto size =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()), static_cast<utf8proc_ssize_t>(text.size()),
                   &bytes, static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  const std::unique_ptr<utf8proc_uint8_t, void (*)(void*)> owner(bytes, std::free);
  if (size < 0) throw Error(fmt::format("a text cannot be normalised: {}", utf8proc_errmsg(size)));
  return std::string(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
}

}  // namespace cudal1
