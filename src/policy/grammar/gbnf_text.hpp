// Writing GBNF: literals, alternatives, and rules under their names.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace cudal1 {

//! In quotes, with what has a meaning there escaped.
std::string gbnf_literal(std::string_view text);

//! `(a | b)`; one alone stays as it is. There must be some.
std::string gbnf_alternatives(const std::vector<std::string>& choices);

//! Alternatives of literals.
std::string gbnf_literals(const std::set<std::string>& texts);

class GbnfText {
 public:
  //! Gives the rule's name back, so that others can mention it.
  std::string rule(const std::string& name, const std::string& body);
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace cudal1
