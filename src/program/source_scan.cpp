#include "program/source_scan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "program/rejection.hpp"

namespace cudal1 {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}
bool is_word_part(char c) { return is_word_start(c) || is_digit(c); }

namespace {

// Longest first. Digraphs are here because `<:` and `< :` must not look alike in the canonical code.
constexpr std::array<std::string_view, 35> long_punctuators = {
    "%:%:", "<<<", ">>>", "<<=", ">>=", "...", "->*", "<=>", "::", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=",
    "&&",   "||",  "+=",  "-=",  "*=",  "/=",  "%=",  "&=",  "|=", "^=", "##", ".*", "<:", ":>", "<%", "%>", "%:"};
constexpr std::size_t longest_raw_delimiter = 16;

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  SourceScan run() {
    while (true) {
      if (at_line_begin_ && starts_directive(index_)) {
        read_directive();
        continue;
      }
      at_line_begin_ = false;
      skip_splices();
      if (index_ >= text_.size()) return std::move(scan_);
      scan_one();
    }
  }

 private:
  void scan_one() {
    const char c = text_[index_];
    if (c == '\n') return end_line();
    if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') return skip_space();
    if (c == '/' && peek(1) == '/') return skip_line_comment();
    if (c == '/' && peek(1) == '*') return skip_block_comment();
    read_token(c);
  }

  void end_line() {
    advance();
    at_line_begin_ = starts_line_ = true;
    in_preprocessor_ = space_before_ = false;
    include_state_ = 0;
  }

  void skip_space() {
    advance();
    space_before_ = true;
  }

  void skip_line_comment() {
    while (index_ < text_.size()) {
      skip_splices();
      if (index_ >= text_.size() || text_[index_] == '\n') break;
      advance();
    }
    space_before_ = true;
  }

  void skip_block_comment() {
    advance_logical(2);
    while (index_ < text_.size() && !(text_[index_] == '*' && peek(1) == '/')) {
      advance();
      skip_splices();
    }
    if (index_ < text_.size()) advance_logical(2);
    space_before_ = true;
  }

  void read_token(char c) {
    CodeToken token;
    token.at = here();
    token.starts_line = starts_line_;
    token.space_before = space_before_;
    token_begin_ = index_;
    token_text_.clear();
    if (is_word_start(c)) {
      token.kind = read_word();
    } else if (is_digit(c) || (c == '.' && is_digit(peek(1)))) {
      token.kind = read_number();
    } else if (c == '"' || c == '\'') {
      token.kind = read_quoted(c);
    } else {
      token.kind = read_punctuator();
    }
    finish(token);
  }

  void finish(CodeToken& token) {
    const std::string_view raw = text_.substr(token_begin_, index_ - token_begin_);
    token.text = raw == token_text_ ? raw : std::string_view(scan_.spliced.emplace_back(token_text_));
    if (token.starts_line && (token.text == "#" || token.text == "%:")) {
      in_preprocessor_ = true;
      include_state_ = 1;
    } else if (include_state_ > 0) {
      include_state_ = include_state_ == 1 && token.text == "include" ? 2 : 0;
    }
    token.in_preprocessor = in_preprocessor_;
    scan_.tokens.push_back(token);
    starts_line_ = space_before_ = false;
  }

  CodeTokenKind read_word() {
    while (is_word_part(peek(0))) take();
    static constexpr std::array<std::string_view, 5> raw_prefixes = {"R", "LR", "uR", "UR", "u8R"};
    if (peek(0) == '"' && std::find(raw_prefixes.begin(), raw_prefixes.end(), token_text_) != raw_prefixes.end()) {
      skip_splices();
      return read_raw_string();
    }
    return CodeTokenKind::word;
  }

  //! A preprocessing number: `1'000`, `0x1p-3f`, `1.5e+3`.
  CodeTokenKind read_number() {
    while (true) {
      const char c = peek(0);
      const bool exponent = (c == 'e' || c == 'E' || c == 'p' || c == 'P') && (peek(1) == '+' || peek(1) == '-');
      const bool separator = c == '\'' && is_word_part(peek(1));
      if (exponent || separator)
        take();
      else if (!is_word_part(c) && c != '.')
        return CodeTokenKind::number;
      take();
    }
  }

  //! An unfinished literal ends with its line, as it does for a compiler (think of `don't` after #if 0).
  CodeTokenKind read_quoted(char quote) {
    take();
    while (index_ < text_.size() && peek(0) != '\n' && peek(0) != '\0') {
      const char c = take();
      if (c == quote) break;
      if (c == '\\' && peek(0) != '\n' && peek(0) != '\0') take();
    }
    return CodeTokenKind::literal;
  }

  //! Backslashes at line ends mean themselves in here, so this reads the text as it is.
  CodeTokenKind read_raw_string() {
    const std::string_view opening = text_.substr(index_ + 1, longest_raw_delimiter + 1);
    const std::string_view delimiter = opening.substr(0, opening.find('('));
    if (delimiter.size() == opening.size() || delimiter.find_first_of(" )\\\t\v\f\n\r\"") != delimiter.npos)
      return read_quoted('"');
    const std::string closing = fmt::format("){}\"", delimiter);
    const std::size_t close = text_.find(closing, index_);
    const std::size_t end = close == text_.npos ? text_.size() : close + closing.size();
    while (index_ < end) {
      token_text_ += text_[index_];
      advance();
    }
    return CodeTokenKind::literal;
  }

  CodeTokenKind read_punctuator() {
    if (include_state_ == 2 && peek(0) == '<') return read_header_name();
    const char first = text_[index_];
    for (const std::string_view candidate : long_punctuators) {
      if (candidate[0] != first) continue;
      std::size_t matched = 1;
      while (matched < candidate.size() && peek(matched) == candidate[matched]) ++matched;
      if (matched != candidate.size()) continue;
      for (std::size_t i = 0; i < candidate.size(); ++i) take();
      return CodeTokenKind::punctuator;
    }
    take();
    return CodeTokenKind::punctuator;
  }

  //! `#include <a//b>` holds no comment.
  CodeTokenKind read_header_name() {
    while (index_ < text_.size() && peek(0) != '\n' && peek(0) != '\0') {
      if (take() == '>') break;
    }
    return CodeTokenKind::literal;
  }

  //! Is there, after white space only, a `//!` at this place?
  bool starts_directive(std::size_t begin) const {
    const std::size_t mark = text_.find_first_not_of(" \t", begin);
    return mark != text_.npos && text_.substr(mark, 3) == "//!";
  }

  void read_directive() {
    DirectiveText directive;
    bool continues = true;
    while (continues) {
      if (!starts_directive(index_))
        reject(Status::parse_error, here(),
               "the directive above ends in '\\' but this line does not start with //!; start it with //! or remove "
               "the '\\'");
      continues = read_directive_line(directive);
    }
    scan_.directives.push_back(std::move(directive));
    at_line_begin_ = starts_line_ = true;
    space_before_ = false;
  }

  //! Returns whether the line ends in a backslash.
  bool read_directive_line(DirectiveText& directive) {
    index_ = text_.find("//!", index_) + 3;
    const SourcePosition at = here();
    const std::size_t newline = std::min(text_.find('\n', index_), text_.size());
    std::string_view line = text_.substr(index_, newline - index_);
    line = line.substr(0, line.find_last_not_of(" \t\r\f\v") + 1);
    const bool continues = line.ends_with('\\');
    if (continues) line.remove_suffix(1);
    directive.pieces.push_back({line, at});
    index_ = newline;
    if (index_ < text_.size()) advance();
    return continues;
  }

  std::size_t splice_length(std::size_t at) const {
    if (at >= text_.size() || text_[at] != '\\') return 0;
    if (text_.substr(at, 2) == "\\\n") return 2;
    return text_.substr(at, 3) == "\\\r\n" ? 3 : 0;
  }

  void skip_splices() {
    while (const std::size_t length = splice_length(index_)) {
      for (std::size_t i = 0; i < length; ++i) advance();
    }
  }

  //! The `ahead`-th character from here as a compiler sees it: lines joined. '\0' past the end.
  char peek(std::size_t ahead) const {
    std::size_t at = index_;
    while (true) {
      while (const std::size_t length = splice_length(at)) at += length;
      if (at >= text_.size()) return '\0';
      if (ahead-- == 0) return text_[at];
      ++at;
    }
  }

  //! Leaves behind the splices that follow, too.
  void advance_logical(std::size_t count) {
    for (std::size_t i = 0; i < count && index_ < text_.size(); ++i) {
      advance();
      skip_splices();
    }
  }

  char take() {
    skip_splices();
    const char c = text_[index_];
    token_text_ += c;
    advance();
    return c;
  }

  void advance() {
    if (text_[index_++] != '\n') return;
    ++line_;
    line_start_ = index_;
  }

  SourcePosition here() const { return {line_, static_cast<int>(index_ - line_start_) + 1}; }

  std::string_view text_;
  std::size_t index_ = 0;
  std::size_t line_start_ = 0;
  int line_ = 1;
  bool at_line_begin_ = true;  //!< right behind a real newline
  bool starts_line_ = true;
  bool space_before_ = false;
  bool in_preprocessor_ = false;
  int include_state_ = 0;  //!< 1: behind the # of a line, 2: behind #include
  std::size_t token_begin_ = 0;
  std::string token_text_;
  SourceScan scan_;
};

//! Length of the well-formed UTF-8 character at `at`, 0 if there is none (Unicode 15, table 3-7).
std::size_t utf8_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const unsigned lead = byte(at);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4) return 0;
  const unsigned low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const unsigned high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  if (byte(at + 1) < low || byte(at + 1) > high) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if (byte(at + i) < 0x80 || byte(at + i) > 0xBF) return 0;
  }
  return length;
}

//! Why the byte at `at` cannot be in a text; empty if it can.
std::string binary_reason(std::string_view text, std::size_t at) {
  const unsigned char c = static_cast<unsigned char>(text[at]);
  if (c == 0) return "a NUL byte";
  if (c == '\r' && text.substr(at, 2) != "\r\n") return "a carriage return that ends no line";
  if ((c < 0x20 && (c < '\t' || c > '\r')) || c == 0x7F) return fmt::format("the control byte 0x{:02x}", c);
  if (utf8_length(text, at) == 0) return fmt::format("the byte 0x{:02x}, which is not UTF-8", c);
  return {};
}

}  // namespace

void check_is_text(std::string_view text, std::size_t max_text_bytes) {
  if (text.size() > max_text_bytes)
    reject(Status::parse_error, {1, 1},
           fmt::format("the text has {} bytes; a program may have at most {}", text.size(), max_text_bytes));
  SourcePosition at{1, 1};
  for (std::size_t i = 0; i < text.size();) {
    const bool plain = text[i] >= ' ' && text[i] <= '~';
    const std::string reason = plain ? std::string() : binary_reason(text, i);
    if (!reason.empty()) reject(Status::parse_error, at, fmt::format("binary: {}; a program is UTF-8 text", reason));
    const std::size_t length = plain ? 1 : utf8_length(text, i);
    at = text[i] == '\n' ? SourcePosition{at.line + 1, 1}
                         : SourcePosition{at.line, at.column + static_cast<int>(length)};
    i += length;
  }
}

SourceScan scan_source(std::string_view text) { return Scanner(text).run(); }

}  // namespace cudal1
