// GBNF, the grammar notation of llama.cpp (docs/grammar.md) -> rules.
#pragma once

#include <cstddef>
#include <string_view>

#include "model/grammar/grammar_rules.hpp"

namespace cudal1 {

//! Bounds on what one grammar may ask of this process.
struct GrammarLimits {
  std::size_t most_text_bytes = std::size_t{4} << 20;
  int most_repetitions = 2000;                              //!< m and n of {m,n}
  int deepest_nesting = 100;                                //!< of parentheses
  std::size_t most_automaton_nodes = std::size_t{2} << 20;  //!< repetitions written out
};

//! Throws Error, one line with the place, for what is no grammar: wrong notation, a rule that is used and not there or
//! there twice, no rule of the root's name, numbers beyond the limits. Left recursion is found by the automaton.
GrammarRules read_gbnf(std::string_view text, std::string_view root = "root", const GrammarLimits& limits = {});

}  // namespace cudal1
