#include "program/directive_tokens.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "program/rejection.hpp"

namespace cudal1 {
namespace {

bool is_ascii_word_part(char c) { return is_word_part(c) && static_cast<unsigned char>(c) < 0x80; }

std::size_t end_of_word(std::string_view text, std::size_t at) {
  while (at < text.size() && is_ascii_word_part(text[at])) ++at;
  return at;
}

std::size_t end_of_number(std::string_view text, std::size_t at) {
  const bool hexadecimal = text[at] == '0' && at + 1 < text.size() && (text[at + 1] == 'x' || text[at + 1] == 'X');
  while (at < text.size()) {
    const bool exponent = !hexadecimal && (text[at] == 'e' || text[at] == 'E');
    if (!is_ascii_word_part(text[at]) && text[at] != '.') break;
    ++at;
    if (exponent && at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
  }
  return at;
}

std::size_t end_of_character(std::string_view text, std::size_t at) {
  do ++at;
  while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80);
  return at;
}

class PieceLexer {
 public:
  PieceLexer(const DirectivePiece& piece, std::vector<DirectiveToken>& tokens) : piece_(piece), tokens_(tokens) {}

  void run() {
    bool space_before = true;  // a piece starts a line
    while (index_ < piece_.text.size() && piece_.text.substr(index_, 2) != "//") {
      const char c = piece_.text[index_];
      const bool space = c == ' ' || c == '\t' || c == '\f' || c == '\v' || c == '\r';
      if (space)
        ++index_;
      else
        add_token(c, space_before);
      space_before = space;
    }
  }

 private:
  void add_token(char c, bool space_before) {
    const std::string_view text = piece_.text;
    if (c == '"') return add_quoted(space_before);
    const bool fraction = c == '.' && index_ + 1 < text.size() && is_digit(text[index_ + 1]);
    if (is_digit(c) || fraction) return add(DirectiveTokenKind::number, end_of_number(text, index_), space_before);
    if (is_ascii_word_part(c)) return add(DirectiveTokenKind::word, end_of_word(text, index_), space_before);
    add(DirectiveTokenKind::punctuation, end_of_character(text, index_), space_before);
  }

  void add_quoted(bool space_before) {
    const std::size_t close = piece_.text.find('"', index_ + 1);
    if (close == piece_.text.npos) reject(Status::parse_error, here(), "the quote is not closed on this line");
    const std::string_view name = piece_.text.substr(index_ + 1, close - index_ - 1);
    tokens_.push_back({DirectiveTokenKind::quoted, name, here(), space_before});
    index_ = close + 1;
  }

  void add(DirectiveTokenKind kind, std::size_t end, bool space_before) {
    tokens_.push_back({kind, piece_.text.substr(index_, end - index_), here(), space_before});
    index_ = end;
  }

  SourcePosition here() const { return {piece_.at.line, piece_.at.column + static_cast<int>(index_)}; }

  const DirectivePiece& piece_;
  std::vector<DirectiveToken>& tokens_;
  std::size_t index_ = 0;
};

}  // namespace

std::string shown(const DirectiveToken& token) {
  if (token.kind == DirectiveTokenKind::end) return "the end of the directive";
  if (token.kind == DirectiveTokenKind::quoted) return quoted(fmt::format("\"{}\"", token.text));
  return quoted(token.text);
}

TokenCursor::TokenCursor(const DirectiveText& directive) {
  for (const DirectivePiece& piece : directive.pieces) PieceLexer(piece, tokens_).run();
  SourcePosition end;
  if (!directive.pieces.empty()) {
    const DirectivePiece& last = directive.pieces.back();
    end = {last.at.line, last.at.column + static_cast<int>(last.text.size())};
  }
  tokens_.push_back({DirectiveTokenKind::end, {}, end, true});
}

const DirectiveToken& TokenCursor::peek(std::size_t ahead) const {
  return tokens_[std::min(index_ + ahead, tokens_.size() - 1)];
}

DirectiveToken TokenCursor::next() {
  const DirectiveToken token = peek();
  if (index_ + 1 < tokens_.size()) ++index_;
  return token;
}

bool TokenCursor::accept(std::string_view punctuation) {
  if (!peek().is(punctuation)) return false;
  next();
  return true;
}

void TokenCursor::expect(std::string_view punctuation, std::string_view after) {
  if (!accept(punctuation))
    reject(Status::parse_error, peek().at,
           fmt::format("expected '{}' after {}, found {}", punctuation, after, shown(peek())));
}

}  // namespace cudal1
