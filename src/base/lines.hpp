#pragma once

#include <algorithm>
#include <string_view>

namespace cudal1 {

//! Calls `use(line, number)` for every line that is not blank; the first is number 1.
template <class Use>
void for_each_line(std::string_view text, const Use& use) {
  int number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    begin = end + 1;
    ++number;
    if (line.find_first_not_of(" \t\r") != std::string_view::npos) use(line, number);
  }
}

}  // namespace cudal1
