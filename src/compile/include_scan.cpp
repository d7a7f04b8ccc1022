#include "compile/include_scan.hpp"

#include <algorithm>
#include <cctype>

namespace cudal1 {
namespace {

//! Characters of a source with line splices removed; knows the physical line of each.
class SplicedText {
 public:
  explicit SplicedText(std::string_view source) : source_(source) { skip_splices(); }
  bool at_end() const { return position_ >= source_.size(); }
  char peek() const { return at_end() ? '\0' : source_[position_]; }
  char peek_next() const {
    SplicedText ahead = *this;
    ahead.next();
    return ahead.peek();
  }
  char next() {
    if (at_end()) return '\0';
    const char character = source_[position_++];
    if (character == '\n') ++line_;
    skip_splices();
    return character;
  }
  int line() const { return line_; }
  std::size_t position() const { return position_; }
  std::string_view source() const { return source_; }
  //! For raw strings, in which splices do not exist.
  void jump(std::size_t position) {
    line_ += static_cast<int>(std::count(source_.begin() + static_cast<std::ptrdiff_t>(position_),
                                         source_.begin() + static_cast<std::ptrdiff_t>(position), '\n'));
    position_ = position;
    skip_splices();
  }

 private:
  // Compilers also accept blanks and a carriage return between the backslash and the end of the line.
  void skip_splices() {
    while (!at_end() && source_[position_] == '\\') {
      std::size_t end = position_ + 1;
      while (end < source_.size() && (source_[end] == ' ' || source_[end] == '\t' || source_[end] == '\r')) ++end;
      if (end >= source_.size() || source_[end] != '\n') return;
      position_ = end + 1;
      ++line_;
    }
  }
  std::string_view source_;
  std::size_t position_ = 0;
  int line_ = 1;
};

class Scanner {
 public:
  explicit Scanner(std::string_view source) : text_(source) {}

  std::vector<IncludeDirective> run() {
    while (!text_.at_end()) step();
    return std::move(found_);
  }

 private:
  void step() {
    const char character = text_.peek();
    if (character == '\n') {
      text_.next();
      line_is_blank_ = true;
    } else if (skip_comment()) {
    } else if (std::isspace(static_cast<unsigned char>(character))) {
      text_.next();
    } else if (line_is_blank_ && starts_directive()) {
      read_directive();
    } else {
      line_is_blank_ = false;
      skip_token();
    }
  }

  bool skip_comment() {
    if (text_.peek() != '/') return false;
    const char second = text_.peek_next();
    if (second == '/') {
      while (!text_.at_end() && text_.peek() != '\n') text_.next();
      return true;
    }
    if (second != '*') return false;
    text_.next();
    text_.next();
    while (!text_.at_end() && !(text_.peek() == '*' && text_.peek_next() == '/')) text_.next();
    text_.next();
    text_.next();
    return true;
  }

  bool starts_directive() {
    if (text_.peek() == '#') {
      text_.next();
      return true;
    }
    if (text_.peek() == '%' && text_.peek_next() == ':') {
      text_.next();
      text_.next();
      return true;
    }
    return false;
  }

  void skip_blanks_and_comments() {
    while (!text_.at_end() && text_.peek() != '\n' &&
           (std::isspace(static_cast<unsigned char>(text_.peek())) ? (text_.next(), true) : skip_comment())) {
    }
  }

  std::string read_word() {
    std::string word;
    while (std::isalnum(static_cast<unsigned char>(text_.peek())) || text_.peek() == '_') word += text_.next();
    return word;
  }

  void read_directive() {
    const int line = text_.line();
    skip_blanks_and_comments();
    const std::string word = read_word();
    line_is_blank_ = false;
    if (word != "include" && word != "include_next" && word != "import" && word != "embed") return;
    skip_blanks_and_comments();
    found_.push_back(read_operand(line));
    found_.back().word = word;
    found_.back().computed |= word != "include";
  }

  IncludeDirective read_operand(int line) {
    IncludeDirective directive;
    directive.line = line;
    const char open = text_.peek();
    const char close = open == '<' ? '>' : '"';
    directive.computed = open != '<' && open != '"';
    if (!directive.computed) text_.next();
    while (!text_.at_end() && text_.peek() != '\n' && (directive.computed || text_.peek() != close))
      directive.name += text_.next();
    if (!directive.computed && text_.peek() == close) text_.next();
    return directive;
  }

  //! Other words before a quote are words, and the string is a plain one.
  static bool is_raw_prefix(std::string_view word) {
    return word == "R" || word == "LR" || word == "uR" || word == "UR" || word == "u8R";
  }

  void skip_token() {
    const char character = text_.peek();
    if (character == '"' || (character == '\'' && !after_digit_)) return skip_quoted();
    if (std::isalnum(static_cast<unsigned char>(character)) || character == '_') {
      const std::string word = read_word();
      after_digit_ = after_digit_ || std::isdigit(static_cast<unsigned char>(word.front())) != 0;
      if (text_.peek() == '"' && is_raw_prefix(word)) skip_raw_string();
      return;
    }
    // 1'000'000: the quote goes on with the number
    if (character != '\'') after_digit_ = false;
    text_.next();
  }

  void skip_quoted() {
    const char quote = text_.next();
    while (!text_.at_end() && text_.peek() != '\n' && text_.peek() != quote)
      if (text_.next() == '\\' && text_.peek() != '\n') text_.next();
    if (text_.peek() == quote) text_.next();
    after_digit_ = false;
  }

  void skip_raw_string() {
    const std::string_view source = text_.source();
    const std::size_t open = source.find('(', text_.position());
    // A delimiter has at most 16 characters; anything longer is not a raw string.
    if (open == std::string_view::npos || open - text_.position() > 17) return skip_quoted();
    std::string closing(1, ')');
    closing.append(source.substr(text_.position() + 1, open - text_.position() - 1)).append(1, '"');
    const std::size_t end = source.find(closing, open);
    text_.jump(end == std::string_view::npos ? source.size() : end + closing.size());
  }

  SplicedText text_;
  std::vector<IncludeDirective> found_;
  bool line_is_blank_ = true;
  bool after_digit_ = false;
};

}  // namespace

std::vector<IncludeDirective> scan_includes(std::string_view source) { return Scanner(source).run(); }

}  // namespace cudal1
