#include "device/vgpu/ptx/lexer.hpp"

#include <fmt/format.h>

#include <cctype>

namespace cudal1::ptx {
namespace {

bool starts_word(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '%';
}
bool continues_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$'; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  std::vector<Token> run() {
    while (skip_blanks(), at_ < text_.size()) read_token();
    add(Token::Kind::end, at_);
    return std::move(tokens_);
  }

 private:
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  void skip_blanks() {
    for (;;) {
      if (peek() == '\n') ++line_;
      if (at_ < text_.size() && std::isspace(static_cast<unsigned char>(peek())) != 0) {
        ++at_;
      } else if (peek() == '/' && peek(1) == '/') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (peek() == '/' && peek(1) == '*') {
        skip_block_comment();
      } else {
        return;
      }
    }
  }

  void skip_block_comment() {
    const std::size_t end = text_.find("*/", at_ + 2);
    if (end == std::string_view::npos) throw PtxError(line_, "a comment has no end");
    for (; at_ < end + 2; ++at_) line_ += text_[at_] == '\n' ? 1 : 0;
  }

  void read_token() {
    const std::size_t begin = at_;
    if (starts_word(peek())) {
      read_word();
      add(Token::Kind::word, begin);
    } else if (peek() == '.' && starts_word(peek(1))) {
      ++at_;
      read_plain_word();
      add(Token::Kind::directive, begin + 1);
    } else if (is_digit(peek())) {
      read_number();
      add(Token::Kind::number, begin);
    } else if (peek() == '"') {
      read_quoted();
    } else {
      ++at_;
      add(Token::Kind::punctuation, begin);
    }
  }

  void read_plain_word() {
    ++at_;
    while (continues_word(peek())) ++at_;
  }

  //! Dots and double colons belong to the word where something follows them: cvt.rn.f16.f32, ld.shared::cta.b32.
  void read_word() {
    read_plain_word();
    for (;;) {
      if (peek() == '.' && continues_word(peek(1)))
        at_ += 2;
      else if (peek() == ':' && peek(1) == ':' && continues_word(peek(2)))
        at_ += 3;
      else
        return;
      while (continues_word(peek())) ++at_;
    }
  }

  //! Letters too: 0x1F, 0f3F800000, 0d…, 16U; and decimal fractions with exponents.
  void read_number() {
    while (continues_word(peek()) || (peek() == '.' && is_digit(peek(1)))) {
      const bool exponent = (peek() == 'e' || peek() == 'E') && (peek(1) == '-' || peek(1) == '+') && decimal_so_far();
      at_ += exponent ? 2 : 1;
    }
  }

  bool decimal_so_far() const {
    std::size_t begin = at_;
    while (begin > 0 && (is_digit(text_[begin - 1]) || text_[begin - 1] == '.')) --begin;
    return begin < at_ && !(begin > 0 && continues_word(text_[begin - 1]));
  }

  void read_quoted() {
    const std::size_t end = text_.find('"', at_ + 1);
    if (end == std::string_view::npos || text_.substr(at_, end - at_).find('\n') != std::string_view::npos)
      throw PtxError(line_, "a quoted text has no end");
    tokens_.push_back({Token::Kind::text, std::string(text_.substr(at_ + 1, end - at_ - 1)), line_});
    at_ = end + 1;
  }

  void add(Token::Kind kind, std::size_t begin) {
    tokens_.push_back({kind, std::string(text_.substr(begin, at_ - begin)), line_});
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
  std::vector<Token> tokens_;
};

}  // namespace

PtxError::PtxError(int ptx_line, const std::string& message)
    : Error(fmt::format("PTX line {}: {}", ptx_line, message)), reason(message), line(ptx_line) {}

CallThroughPointer::CallThroughPointer(int ptx_line)
    : PtxError(ptx_line, "calls through pointers to functions are not known; use templates or a switch") {}

UnknownInstruction::UnknownInstruction(int ptx_line, const std::string& opcode)
    : PtxError(ptx_line, fmt::format("the instruction '{}' is not known", opcode)) {}

std::vector<Token> tokenize(std::string_view ptx) { return Lexer(ptx).run(); }

}  // namespace cudal1::ptx
