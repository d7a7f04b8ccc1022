#pragma once

#include <string>
#include <vector>

namespace cudal1 {

//! Quotation marks around what would break a line into other columns.
inline std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted(1, '"');
  for (const char c : text) quoted.append(c == '"' ? 2 : 1, c);
  quoted.push_back('"');
  return quoted;
}

//! `cells` may not be empty.
inline std::string csv_line(const std::vector<std::string>& cells) {
  std::string line;
  for (const std::string& cell : cells) line.append(csv_cell(cell)).push_back(',');
  line.back() = '\n';
  return line;
}

}  // namespace cudal1
