#pragma once

#include <algorithm>
#include <string>

namespace cudal1 {

//! Messages are others' texts: in a list they must stay on their line, and in code they do nothing.
inline std::string quoted_in_markdown(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  std::ranges::replace(text, '`', '\'');
  return text;
}

}  // namespace cudal1
