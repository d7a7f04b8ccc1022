// A recogniser that is slow and plain, to hold the matcher against, and random grammars to do so with.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "model/grammar/grammar_rules.hpp"

namespace cudal1 {

//! Tries every way to read a text. The grammar must have no left recursion.
class GrammarOracle {
 public:
  explicit GrammarOracle(const GrammarRules& grammar);
  bool derives(std::string_view text);
  //! Some text that begins so is derived.
  bool derives_beginning(std::string_view text);

 private:
  using Places = std::set<std::size_t>;
  bool productive(const GrammarExpression& expression) const;
  Places ends(const GrammarExpression& expression, std::size_t begin);
  //! Places where copies of the repeated part may begin or end: after `least`, and before fewer than `most`.
  std::pair<Places, Places> repeated(const GrammarExpression& expression, std::size_t begin);
  Places ends_of_character(const GrammarExpression& expression, std::size_t begin) const;
  bool goes_beyond(const GrammarExpression& expression, std::size_t begin);
  bool character_begins(const GrammarExpression& expression, std::string_view bytes);
  void look_at(std::string_view text);

  const GrammarRules& grammar_;
  std::vector<bool> productive_;
  std::string_view text_;
  std::map<std::pair<int, std::size_t>, Places> known_ends_;
  std::map<std::pair<int, std::size_t>, bool> known_beyond_;
};

//! As GBNF.
std::string to_gbnf(const GrammarRules& grammar);

//! A few rules over few characters, of one to four bytes. May have left recursion, and rules without any text.
GrammarRules random_grammar(Random& random);

}  // namespace cudal1
