#include "policy/prompt/prompt_template.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/result.hpp"

namespace cudal1 {
namespace {

struct TemplatePiece {
  std::string_view text;  //!< as it is, or a placeholder's name
  bool is_placeholder = false;
};

bool is_name(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; });
}

std::vector<TemplatePiece> pieces_of(std::string_view text, const std::string& file) {
  std::vector<TemplatePiece> pieces;
  while (!text.empty()) {
    const std::size_t open = std::min(text.find("{{"), text.size());
    if (open > 0) pieces.push_back({text.substr(0, open)});
    text.remove_prefix(open);
    if (text.empty()) break;
    const std::size_t close = text.find("}}");
    const std::string_view name = close == text.npos ? text.substr(2, 20) : text.substr(2, close - 2);
    if (close == text.npos || !is_name(name))
      throw Error(fmt::format("prompts/{}: '{{{{{}' begins no placeholder: lower-case letters and _, then }}}}", file,
                              name.substr(0, 20)));
    pieces.push_back({name, true});
    text.remove_prefix(close + 2);
  }
  return pieces;
}

}  // namespace

std::vector<std::string> placeholders_of(std::string_view text, const std::string& file) {
  std::vector<std::string> names;
  for (const TemplatePiece& piece : pieces_of(text, file))
    if (piece.is_placeholder) names.emplace_back(piece.text);
  return names;
}

std::string fill_template(std::string_view text, const PlaceholderValues& values, const std::string& file) {
  std::set<std::string> used;
  std::string result;
  for (const TemplatePiece& piece : pieces_of(text, file)) {
    if (!piece.is_placeholder) {
      result += piece.text;
      continue;
    }
    const auto value = values.find(std::string(piece.text));
    if (value == values.end()) throw Error(fmt::format("prompts/{}: there is no value for '{}'", file, piece.text));
    used.insert(value->first);
    result += value->second;
  }
  for (const auto& [name, value] : values)
    if (!used.contains(name)) throw Error(fmt::format("prompts/{}: the placeholder '{}' is missing", file, name));
  return result;
}

std::string_view prompt_file(const std::string& name) {
  const auto found = embedded_prompt_files().find(name);
  if (found == embedded_prompt_files().end()) throw Error(fmt::format("prompts/{}: there is no such file", name));
  return found->second;
}

std::string filled_prompt_file(const std::string& name, const PlaceholderValues& values) {
  return fill_template(prompt_file(name), values, name);
}

}  // namespace cudal1
