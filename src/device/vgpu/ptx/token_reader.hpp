// The tokens of a PTX text, one after the other, and the numbers among them.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "device/vgpu/ptx/lexer.hpp"
#include "device/vgpu/ptx/syntax.hpp"

namespace cudal1::ptx {

//! What is expected and not there is a PtxError with its line.
class TokenReader {
 public:
  explicit TokenReader(std::string_view ptx) : tokens_(tokenize(ptx)) {}

  const Token& now() const { return tokens_[at_]; }
  const Token& next() const { return tokens_[std::min(at_ + 1, tokens_.size() - 1)]; }
  Token take() { return at_ + 1 < tokens_.size() ? tokens_[at_++] : tokens_[at_]; }
  bool at_end() const { return now().kind == Token::Kind::end; }
  bool at_directive() const { return now().kind == Token::Kind::directive; }
  bool at_number() const { return now().kind == Token::Kind::number; }

  [[noreturn]] void fail(const std::string& message) const { throw PtxError(now().line, message); }
  //! The token as messages name it.
  std::string shown() const { return at_end() ? "the end" : fmt::format("'{}'", now().text); }

  bool accept(char punctuation) {
    if (!now().is(punctuation)) return false;
    take();
    return true;
  }
  bool accept_directive(std::string_view name) {
    if (!now().is_directive(name)) return false;
    take();
    return true;
  }
  void expect(char punctuation) {
    if (!accept(punctuation)) fail(fmt::format("'{}' expected, not {}", punctuation, shown()));
  }
  std::string expect_word(const char* what);
  std::string expect_directive(const char* what);
  std::uint64_t expect_integer();
  //! The number that is next: an integer or a floating-point one, with the sign that was read before it.
  Operand take_number(bool negative);

 private:
  std::uint64_t integer_of(std::string text) const;
  std::uint64_t hexadecimal_digits(const std::string& text, std::size_t digits) const;

  std::vector<Token> tokens_;
  std::size_t at_ = 0;
};

}  // namespace cudal1::ptx
