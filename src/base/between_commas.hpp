#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

namespace cudal1 {

//! The parts of a text between its commas, empty ones included: one more than there are commas.
inline std::vector<std::string_view> between_commas(std::string_view text) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

}  // namespace cudal1
