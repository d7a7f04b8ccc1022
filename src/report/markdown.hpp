#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace cudal1 {

//! Messages are others' texts: in a list they must stay on their line, and in code they do nothing.
inline std::string quoted_in_markdown(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  std::ranges::replace(text, '`', '\'');
  return text;
}

//! A row of a table; what would end a cell does not.
inline std::string markdown_row(const std::vector<std::string>& cells) {
  std::string line = "|";
  for (const std::string& cell : cells) {
    line += ' ';
    for (const char c : cell) line.append(c == '|' ? "\\|" : std::string(1, c == '\n' ? ' ' : c));
    line += " |";
  }
  return line + "\n";
}

//! The first two lines of a table.
inline std::string markdown_heading(const std::vector<std::string>& columns) {
  std::string line = markdown_row(columns) + "|";
  for (std::size_t i = 0; i < columns.size(); ++i) line += "---|";
  return line + "\n";
}

}  // namespace cudal1
