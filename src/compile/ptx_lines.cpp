#include "compile/ptx_lines.hpp"

#include <charconv>

namespace cudal1 {
namespace {

std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

std::string_view without_blanks(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  return first == std::string_view::npos ? std::string_view() : text.substr(first);
}

std::string_view next_word(std::string_view& text) {
  text = without_blanks(text);
  const std::string_view word = text.substr(0, text.find_first_of(" \t,"));
  text.remove_prefix(word.size());
  return word;
}

//! ".loc 1 17 3": 17.
int line_of_location(std::string_view rest) {
  next_word(rest);  // .loc
  next_word(rest);  // the file
  const std::string_view digits = next_word(rest);
  int line = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), line);
  return line;
}

bool begins_function(std::string_view line) {
  return line.find(".entry ") != std::string_view::npos || line.find(".func ") != std::string_view::npos;
}

}  // namespace

int source_line_of(std::string_view ptx, int ptx_line) {
  int source_line = 0;
  for (int i = 0; i < ptx_line && !ptx.empty(); ++i) {
    const std::string_view line = without_blanks(take_line(ptx));
    if (line.starts_with(".loc")) source_line = line_of_location(line);
    if (begins_function(line)) source_line = 0;
  }
  return source_line;
}

}  // namespace cudal1
