// What a byte-level BPE tokenizer is made of, whichever kind of file it came from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cudal1 {

//! One cut of a text before merges: at every match of a pattern (matches and what lies between are pieces), or around
//! every single digit.
struct PreTokenizerStep {
  enum class Kind { pattern, single_digits } kind = Kind::pattern;
  std::string pattern;  //!< PCRE2, UTF-8, Unicode properties; empty for single_digits
};

struct AddedToken {
  std::int32_t id = 0;
  std::string text;      //!< as it appears in a text, not in the alphabet of bytes
  bool special = false;  //!< control tokens: never made of a user's text
};

struct TokenizerData {
  std::vector<std::string> tokens;                          //!< by id, in the alphabet of bytes ("Ġthe")
  std::vector<std::pair<std::string, std::string>> merges;  //!< best first
  std::vector<AddedToken> added;
  std::vector<PreTokenizerStep> steps;
  bool compose = false;        //!< texts are brought to Unicode's normal form C before anything else (Qwen)
  bool ignore_merges = false;  //!< a piece that is a token is taken whole (Llama 3)
  std::optional<std::int32_t> begin_of_text, end_of_text;
  std::string chat_template;  //!< Jinja as in the file; empty: none
};

}  // namespace cudal1
