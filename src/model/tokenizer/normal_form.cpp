#include "model/tokenizer/normal_form.hpp"

#include <fmt/format.h>
#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "base/result.hpp"

namespace cudal1 {

bool is_surely_composed(std::string_view text) {
  constexpr unsigned char lead_of_0300 = 0xCC;
  return std::ranges::none_of(text, [](char byte) { return static_cast<unsigned char>(byte) >= lead_of_0300; });
}

std::string composed(std::string_view text) {
  if (is_surely_composed(text)) return std::string(text);
  utf8proc_uint8_t* bytes = nullptr;
  const auto size =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()), static_cast<utf8proc_ssize_t>(text.size()),
                   &bytes, static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  const std::unique_ptr<utf8proc_uint8_t, void (*)(void*)> owner(bytes, std::free);
  if (size < 0) throw Error(fmt::format("a text cannot be normalised: {}", utf8proc_errmsg(size)));
  return std::string(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
}

}  // namespace cudal1
