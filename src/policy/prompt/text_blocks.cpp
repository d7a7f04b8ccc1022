#include "policy/prompt/text_blocks.hpp"

#include <algorithm>

namespace cudal1 {
namespace {

std::size_t longest_row_of(char wanted, std::string_view text) {
  std::size_t longest = 0, row = 0;
  for (const char c : text) {
    row = c == wanted ? row + 1 : 0;
    longest = std::max(longest, row);
  }
  return longest;
}

}  // namespace

std::string fenced(std::string_view text, std::string_view language) {
  constexpr std::size_t usual = 3;
  const std::string fence(std::max(usual, longest_row_of('`', text) + 1), '`');
  std::string block = fence;
  block.append(language).append("\n").append(text);
  if (!text.empty() && text.back() != '\n') block += '\n';
  return block + fence + "\n";
}

std::string on_one_line(std::string_view text) {
  std::string line;
  bool gap = false;
  for (const char c : text) {
    const bool is_space = static_cast<unsigned char>(c) <= ' ' || c == 0x7f;
    if (!is_space && gap && !line.empty()) line += ' ';
    gap = is_space;
    if (!is_space) line += c;
  }
  return line;
}

}  // namespace cudal1
