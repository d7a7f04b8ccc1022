// Random texts of a grammar, byte by byte.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.hpp"
#include "model/grammar/gbnf_reader.hpp"
#include "model/grammar/grammar_matcher.hpp"

namespace cudal1 {

class GrammarSampler {
 public:
  explicit GrammarSampler(std::string_view gbnf) : matcher_(GrammarAutomaton(read_gbnf(gbnf))) {}

  bool accepts(std::string_view text) {
    GrammarState state = matcher_.start();
    return matcher_.advance(state, text) && matcher_.may_end(state);
  }

  //! Bytes that are allowed are drawn evenly, but lines that may end do so about every fourth time.
  std::string sample(Random& random, std::size_t about_bytes) {
    std::string text;
    for (GrammarState state = matcher_.start(); text.size() < 20 * about_bytes;) {
      const bool may_end = matcher_.may_end(state);
      if (may_end && (text.size() >= about_bytes || random.below(40) == 0)) return text;
      std::vector<char> allowed;
      for (int byte = 0; byte < 256; ++byte)
        if (matcher_.step(state.id(), static_cast<std::uint8_t>(byte)) != StackSets::none)
          allowed.push_back(static_cast<char>(byte));
      if (allowed.empty()) return text;
      const bool ends_line = std::ranges::find(allowed, '\n') != allowed.end() && random.below(4) == 0;
      text += ends_line ? '\n' : allowed[random.below(allowed.size())];
      matcher_.advance(state, std::string_view(text).substr(text.size() - 1));
    }
    return text;
  }

 private:
  GrammarMatcher matcher_;
};

}  // namespace cudal1
