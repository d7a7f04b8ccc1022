#include "dialect/markdown.hpp"

#include <vector>

#include "base/lines.hpp"

namespace cudal1 {
namespace {

constexpr std::string_view fence = "```", spaces = " \t\r";

std::string_view trimmed(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(spaces);
  if (begin == std::string_view::npos) return {};
  return line.substr(begin, line.find_last_not_of(spaces) + 1 - begin);
}

//! In their order; they look into `text`.
std::vector<std::string_view> fence_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  for_each_line(text, [&](std::string_view line, int) {
    if (trimmed(line).starts_with(fence)) lines.push_back(line);
  });
  return lines;
}

bool is_blank(std::string_view text) { return text.find_first_not_of(" \t\r\n") == std::string_view::npos; }

}  // namespace

bool has_fences(std::string_view text) { return !fence_lines(text).empty(); }

std::string without_fences(std::string text) {
  const std::string_view all = text;
  const auto lines = fence_lines(all);
  if (lines.size() != 2 || trimmed(lines[1]) != fence) return text;
  const auto opening = static_cast<std::size_t>(lines[0].data() - all.data());
  const auto closing = static_cast<std::size_t>(lines[1].data() - all.data());
  if (!is_blank(all.substr(0, opening)) || !is_blank(all.substr(closing + lines[1].size()))) return text;
  // The blank lines before the code keep its line numbers those of the file.
  return std::string(all.substr(0, opening))
      .append(all.substr(opening + lines[0].size(), closing - opening - lines[0].size()));
}

}  // namespace cudal1
