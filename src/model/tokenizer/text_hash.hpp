// Maps by text that can be asked with a string_view.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace cudal1 {

struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
};

template <class Value>
using TextMap = std::unordered_map<std::string, Value, TextHash, std::equal_to<>>;

}  // namespace cudal1
