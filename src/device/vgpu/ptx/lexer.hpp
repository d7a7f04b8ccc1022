// PTX text -> tokens.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace cudal1::ptx {

//! Text that is no PTX, or PTX that is not known here; says at which line of the PTX.
class PtxError : public Error {
 public:
  PtxError(int ptx_line, const std::string& message);
  std::string reason;  //!< what() without the line
  int line;
};

//! A call whose function is known only when it runs.
class CallThroughPointer : public PtxError {
 public:
  explicit CallThroughPointer(int ptx_line);
};

//! An instruction that is not among those the virtual GPU has; nothing is wrong with it.
class UnknownInstruction : public PtxError {
 public:
  UnknownInstruction(int ptx_line, const std::string& opcode);
};

struct Token {
  enum class Kind {
    word,         //!< an identifier, with what is attached to it by dots and double colons: ld.global.f32, %tid.x
    directive,    //!< a dot and a word: .reg, .b32
    number,       //!< as written, without a sign
    text,         //!< between quotes
    punctuation,  //!< one character
    end,
  };
  Kind kind = Kind::end;
  std::string text;
  int line = 0;

  bool is(char punctuation) const {
    return kind == Kind::punctuation && text.size() == 1 && text.front() == punctuation;
  }
  bool is_directive(std::string_view name) const { return kind == Kind::directive && text == name; }
};

//! Comments are left out; the last token is `end`. Throws PtxError.
std::vector<Token> tokenize(std::string_view ptx);

}  // namespace cudal1::ptx
