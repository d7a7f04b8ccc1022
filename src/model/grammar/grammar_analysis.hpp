// What must be known of every rule before a text can be followed through a grammar.
#pragma once

#include <vector>

#include "model/grammar/grammar_rules.hpp"

namespace cudal1 {

struct GrammarAnalysis {
  std::vector<bool> may_be_empty;   //!< by rule: it derives the empty text
  std::vector<bool> is_productive;  //!< by rule: it derives some text; the others go on for ever
  std::vector<int> rank;            //!< by rule: higher than that of every rule which can begin with it
};

//! Throws Error for a rule that can begin with itself, with the way there.
GrammarAnalysis analyse(const GrammarRules& grammar);

bool may_be_empty(const GrammarExpression& expression, const std::vector<bool>& rules);
bool is_productive(const GrammarExpression& expression, const std::vector<bool>& rules);

}  // namespace cudal1
