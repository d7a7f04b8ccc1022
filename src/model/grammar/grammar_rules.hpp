// A grammar as it was written: named rules over characters.
#pragma once

#include <string>
#include <vector>

namespace cudal1 {

//! Code points from the first to the last.
struct CharacterRange {
  char32_t first = 0, last = 0;
  bool operator==(const CharacterRange&) const = default;
};

struct GrammarExpression {
  enum class Kind {
    literal,       //!< `text`, which may be empty
    characters,    //!< one character of `ranges`
    sequence,      //!< `parts` one after the other
    alternatives,  //!< one of `parts`
    repetition,    //!< the one part, `least` to `most` times
    rule,          //!< what `rule` derives
  };
  static constexpr int no_limit = -1;

  Kind kind = Kind::literal;
  std::string text;                    //!< UTF-8
  std::vector<CharacterRange> ranges;  //!< ascending, apart from each other, without surrogates
  std::vector<GrammarExpression> parts;
  int least = 0, most = no_limit;
  int rule = -1;  //!< index into GrammarRules::rules
};

struct GrammarRule {
  std::string name;
  GrammarExpression body;
};

struct GrammarRules {
  std::vector<GrammarRule> rules;
  int root = 0;
};

}  // namespace cudal1
