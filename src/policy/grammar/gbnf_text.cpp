#include "policy/grammar/gbnf_text.hpp"

#include <fmt/format.h>

namespace cudal1 {

std::string gbnf_literal(std::string_view text) {
  std::string literal = "\"";
  for (const char c : text) {
    if (c == '\n')
      literal += "\\n";
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F)
      literal += fmt::format("\\x{:02X}", static_cast<unsigned char>(c));
    else
      literal += c == '"' || c == '\\' ? fmt::format("\\{}", c) : std::string(1, c);
  }
  return literal + "\"";
}

std::string gbnf_alternatives(const std::vector<std::string>& choices) {
  if (choices.size() == 1) return choices.front();
  return fmt::format("({})", fmt::join(choices, " | "));
}

std::string gbnf_literals(const std::set<std::string>& texts) {
  std::vector<std::string> choices;
  for (const std::string& text : texts) choices.push_back(gbnf_literal(text));
  return gbnf_alternatives(choices);
}

std::string GbnfText::rule(const std::string& name, const std::string& body) {
  text_ += fmt::format("{} ::= {}\n", name, body);
  return name;
}

}  // namespace cudal1
