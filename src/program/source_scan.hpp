// The first look at a program text: which lines are directives, and what the tokens of the CUDA code between them
// are. Everything later (directives, signatures, the canonical hash) reads this and never the raw text.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace cudal1 {

enum class CodeTokenKind { word, number, literal, punctuator };

//! A preprocessing token of the CUDA code. Comments and directive lines give none.
struct CodeToken {
  std::string_view text;  //!< of the program text, or of SourceScan::spliced
  SourcePosition at;
  CodeTokenKind kind = CodeTokenKind::punctuator;
  bool starts_line = false;  //!< the first of its line
  bool space_before = false;
  bool in_preprocessor = false;  //!< belongs to a `#` line
};

//! A directive without its `//!`; a continued one has several pieces, one for each line.
struct DirectivePiece {
  std::string_view text;
  SourcePosition at;
};
struct DirectiveText {
  std::vector<DirectivePiece> pieces;
};

struct SourceScan {
  std::vector<CodeToken> tokens;
  std::vector<DirectiveText> directives;
  std::deque<std::string> spliced;  //!< tokens that a backslash at a line's end cuts in two
};

//! Refuses what is not text: too large, NUL and other control bytes, broken UTF-8. Throws Rejection.
void check_is_text(std::string_view text, std::size_t max_text_bytes);

//! `text` must outlive the result. Throws Rejection (a continued directive whose next line is none).
SourceScan scan_source(std::string_view text);

bool is_word_start(char c);  //!< letters, _ and all bytes of non-ASCII characters
bool is_word_part(char c);
bool is_digit(char c);

}  // namespace cudal1
