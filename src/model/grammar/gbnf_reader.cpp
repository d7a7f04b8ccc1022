#include "model/grammar/gbnf_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/result.hpp"
#include "base/utf8.hpp"
#include "model/grammar/utf8_ranges.hpp"

namespace cudal1 {
namespace {

using Kind = GrammarExpression::Kind;

constexpr int most_operators = 8;  // on one item: a bound on our own stack

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

//! Ascending, and those that touch joined.
std::vector<CharacterRange> joined(std::vector<CharacterRange> ranges) {
  std::ranges::sort(ranges, {}, &CharacterRange::first);
  std::vector<CharacterRange> result;
  for (const CharacterRange& range : ranges) {
    if (!result.empty() && range.first <= result.back().last + 1)
      result.back().last = std::max(result.back().last, range.last);
    else
      result.push_back(range);
  }
  return result;
}

//! Every character that is in none of these, which are joined.
std::vector<CharacterRange> others(const std::vector<CharacterRange>& ranges) {
  std::vector<CharacterRange> result;
  char32_t begin = 0;
  for (const CharacterRange& range : ranges) {
    if (range.first > begin) result.push_back({begin, range.first - 1});
    begin = range.last + 1;
  }
  if (begin <= last_code_point) result.push_back({begin, last_code_point});
  return result;
}

class GbnfReader {
 public:
  GbnfReader(std::string_view text, const GrammarLimits& limits) : text_(text), limits_(limits) {}

  GrammarRules run(std::string_view root) {
    if (text_.size() > limits_.most_text_bytes)
      throw Error(fmt::format("the grammar is {} bytes long; at most {} are read: write a shorter one", text_.size(),
                              limits_.most_text_bytes));
    skip_space(true);
    while (!at_end()) {
      read_rule();
      skip_space(true);
    }
    refuse_undefined();
    const auto found = numbers_.find(root);
    if (found == numbers_.end())
      throw Error(fmt::format("the grammar has no rule '{0}', with which a text begins: write {0} ::= …", root));
    rules_.root = found->second;
    return std::move(rules_);
  }

 private:
  void read_rule() {
    const std::size_t begin = at_;
    const std::string name = read_name("a rule (name ::= …)");
    const int rule = number_of(name, begin);
    if (places_[rule].is_defined) fail(begin, fmt::format("rule '{}' is defined twice: join the two with |", name));
    places_[rule].is_defined = true;
    skip_space(false);
    if (!text_.substr(at_).starts_with("::=")) fail(at_, fmt::format("expected ::= behind '{}'", name));
    at_ += 3;
    GrammarExpression body = read_alternatives(0);
    if (!at_end() && text_[at_] != '\n' && text_[at_] != '\r')
      fail(at_, fmt::format("expected the end of rule '{}', found {}", name, found_here()));
    rules_.rules[static_cast<std::size_t>(rule)].body = std::move(body);
  }

  GrammarExpression read_alternatives(int depth) {
    GrammarExpression all;
    all.kind = Kind::alternatives;
    all.parts.push_back(read_sequence(depth));
    while (goes_on_with_alternative()) {
      ++at_;
      skip_space(true);
      all.parts.push_back(read_sequence(depth));
    }
    return all.parts.size() == 1 ? std::move(all.parts.front()) : std::move(all);
  }

  //! `|` here or, since no rule begins so, as the first of a later line. Leaves `at_` there.
  bool goes_on_with_alternative() {
    const std::size_t before = at_;
    skip_space(true);
    if (!at_end() && text_[at_] == '|') return true;
    at_ = before;
    return false;
  }

  GrammarExpression read_sequence(int depth) {
    GrammarExpression all;
    all.kind = Kind::sequence;
    for (skip_space(depth > 0); !at_end() && starts_item(); skip_space(depth > 0)) {
      all.parts.push_back(read_item(depth));
      const std::size_t begin = at_;
      for (int operators = 0; read_repetition(all.parts.back());)
        if (++operators > most_operators) fail(begin, "too many of * + ? and {m,n} in a row: one can say the same");
    }
    return all.parts.size() == 1 ? std::move(all.parts.front()) : std::move(all);
  }

  bool starts_item() const {
    const char c = text_[at_];
    return c == '"' || c == '[' || c == '(' || c == '.' || is_name_character(c);
  }

  GrammarExpression read_item(int depth) {
    const char c = text_[at_];
    if (c == '"') return read_literal();
    if (c == '[') return read_class();
    if (c == '(') return read_group(depth + 1);
    GrammarExpression item;
    if (c == '.') {
      ++at_;
      item.kind = Kind::characters;
      item.ranges = {{0, last_code_point}};
      return item;
    }
    const std::size_t begin = at_;
    item.kind = Kind::rule;
    item.rule = number_of(read_name("a rule's name"), begin);
    return item;
  }

  GrammarExpression read_group(int depth) {
    const std::size_t begin = at_++;
    if (depth > limits_.deepest_nesting)
      fail(begin, fmt::format("parentheses are nested more than {} deep: give the inner ones a rule of their own",
                              limits_.deepest_nesting));
    skip_space(true);
    GrammarExpression inner = read_alternatives(depth);
    skip_space(true);
    if (at_end()) fail(begin, "this ( is not closed");
    if (text_[at_] != ')') fail(at_, fmt::format("expected ) or |, found {}", found_here()));
    ++at_;
    return inner;
  }

  GrammarExpression read_literal() {
    const std::size_t begin = at_++;
    GrammarExpression literal;
    while (!ends_line() && text_[at_] != '"') append_utf8(read_character(), literal.text);
    if (ends_line()) fail(begin, "the quote is not closed on its line");
    ++at_;
    return literal;
  }

  GrammarExpression read_class() {
    const std::size_t begin = at_++;
    GrammarExpression item;
    item.kind = Kind::characters;
    const bool negated = !at_end() && text_[at_] == '^';
    if (negated) ++at_;
    while (!ends_line() && text_[at_] != ']') item.ranges.push_back(read_range());
    if (ends_line()) fail(begin, "this [ is not closed on its line");
    ++at_;
    item.ranges = joined(std::move(item.ranges));
    if (negated) item.ranges = others(item.ranges);
    return item;
  }

  CharacterRange read_range() {
    const std::size_t begin = at_;
    CharacterRange range;
    range.first = range.last = read_character();
    // A - in front of ] is itself.
    if (text_.substr(at_, 1) != "-" || text_.substr(at_ + 1, 1) == "]") return range;
    ++at_;
    if (ends_line()) return range;
    range.last = read_character();
    if (range.last < range.first) fail(begin, "the range ends before it begins: write the smaller character first");
    return range;
  }

  char32_t read_character() {
    const std::size_t begin = at_;
    if (text_[at_] == '\\') return read_escape();
    const Utf8Character character = first_character(text_.substr(at_));
    if (character.kind != Utf8Character::Kind::valid) fail(begin, "these bytes are not UTF-8");
    at_ += character.bytes;
    return character.code_point;
  }

  char32_t read_escape() {
    const std::size_t begin = at_++;
    if (ends_line()) fail(begin, "there is nothing behind the \\");
    const char c = text_[at_++];
    constexpr std::string_view names = "nrt\\\"[]-^", meanings = "\n\r\t\\\"[]-^";
    if (const std::size_t known = names.find(c); known != names.npos) return static_cast<char32_t>(meanings[known]);
    const int digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    if (digits == 0)
      fail(begin,
           "this escape is not known; there are \\n \\r \\t \\\\ \\\" \\[ \\] \\- \\^ \\xHH \\uHHHH \\UHHHHHHHH");
    return read_hexadecimal(begin, digits);
  }

  char32_t read_hexadecimal(std::size_t begin, int digits) {
    char32_t value = 0;
    for (int i = 0; i < digits; ++i, ++at_) {
      const char c = at_end() ? ' ' : text_[at_];
      const char lower = static_cast<char>(c | 0x20);
      if (!is_digit(c) && (lower < 'a' || lower > 'f'))
        fail(begin, fmt::format("expected {} hexadecimal digits in this escape", digits));
      value = value * 16 + static_cast<char32_t>(is_digit(c) ? c - '0' : lower - 'a' + 10);
    }
    if (value > last_code_point || (value >= first_surrogate && value <= last_surrogate))
      fail(begin, "this number is no character's: write one up to 10FFFF and outside D800 to DFFF");
    return value;
  }

  //! Wraps the item if `*`, `+`, `?` or `{…}` follows it.
  bool read_repetition(GrammarExpression& item) {
    const std::size_t before = at_;
    skip_space(false);
    std::pair<int, int> counts{0, GrammarExpression::no_limit};
    const char c = at_end() ? ' ' : text_[at_];
    if (c == '+') counts.first = 1;
    if (c == '?') counts.second = 1;
    if (c == '{') {
      counts = read_counts();
    } else if (c == '*' || c == '+' || c == '?') {
      ++at_;
    } else {
      at_ = before;
      return false;
    }
    wrap(item, counts.first, counts.second);
    return true;
  }

  static void wrap(GrammarExpression& item, int least, int most) {
    GrammarExpression repeated;
    repeated.kind = Kind::repetition;
    repeated.least = least;
    repeated.most = most;
    repeated.parts.push_back(std::move(item));
    item = std::move(repeated);
  }

  //! {m}, {m,} or {m,n}
  std::pair<int, int> read_counts() {
    const std::size_t begin = at_++;
    const int least = read_count();
    int most = least;
    skip_space(false);
    if (!at_end() && text_[at_] == ',') {
      ++at_;
      skip_space(false);
      most = !at_end() && is_digit(text_[at_]) ? read_count() : GrammarExpression::no_limit;
      skip_space(false);
    }
    if (at_end() || text_[at_] != '}') fail(at_, fmt::format("expected }} of {{m,n}}, found {}", found_here()));
    ++at_;
    if (most != GrammarExpression::no_limit && most < least) fail(begin, "{m,n} needs an m that is at most n");
    return {least, most};
  }

  int read_count() {
    skip_space(false);
    const std::size_t begin = at_;
    int count = 0;
    while (!at_end() && is_digit(text_[at_]) && count <= limits_.most_repetitions)
      count = count * 10 + (text_[at_++] - '0');
    if (at_ == begin) fail(at_, fmt::format("expected a number in {{m,n}}, found {}", found_here()));
    if (count > limits_.most_repetitions)
      fail(begin, fmt::format("at most {} repetitions can be asked for: write * or +", limits_.most_repetitions));
    return count;
  }

  std::string read_name(std::string_view what) {
    const std::size_t begin = at_;
    while (!at_end() && is_name_character(text_[at_])) ++at_;
    if (at_ == begin) fail(at_, fmt::format("expected {}, found {}", what, found_here()));
    return std::string(text_.substr(begin, at_ - begin));
  }

  int number_of(const std::string& name, std::size_t at) {
    const auto [found, fresh] = numbers_.emplace(name, static_cast<int>(rules_.rules.size()));
    if (fresh) {
      rules_.rules.push_back({name, {}});
      places_[found->second] = {at, false};
    }
    return found->second;
  }

  void refuse_undefined() const {
    for (const auto& [rule, place] : places_)
      if (!place.is_defined)
        fail(place.first_use, fmt::format("there is no rule '{}'; write {} ::= … or name another",
                                          rules_.rules[static_cast<std::size_t>(rule)].name,
                                          rules_.rules[static_cast<std::size_t>(rule)].name));
  }

  //! White space and comments.
  void skip_space(bool newlines) {
    while (!at_end()) {
      const char c = text_[at_];
      if (c == '#') {
        while (!at_end() && text_[at_] != '\n') ++at_;
      } else if (c == ' ' || c == '\t' || (newlines && (c == '\n' || c == '\r'))) {
        ++at_;
      } else {
        return;
      }
    }
  }

  bool at_end() const { return at_ >= text_.size(); }
  bool ends_line() const { return at_end() || text_[at_] == '\n'; }

  std::string found_here() const {
    if (at_end()) return "the end of the grammar";
    if (text_[at_] == '\n' || text_[at_] == '\r') return "the end of the line";
    const Utf8Character here = first_character(text_.substr(at_));
    if (here.kind != Utf8Character::Kind::valid || here.code_point < 0x20 || here.code_point == 0x7F)
      return fmt::format("the byte 0x{:02x}", static_cast<unsigned char>(text_[at_]));
    return fmt::format("'{}'", text_.substr(at_, here.bytes));
  }

  [[noreturn]] void fail(std::size_t at, const std::string& message) const {
    const std::string_view before = text_.substr(0, at);
    const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
    throw Error(fmt::format("grammar, line {}, column {}: {}", 1 + std::ranges::count(before, '\n'),
                            at - line_start + 1, message));
  }

  struct Place {
    std::size_t first_use = 0;
    bool is_defined = false;
  };

  std::string_view text_;
  const GrammarLimits& limits_;
  std::size_t at_ = 0;
  GrammarRules rules_;
  std::map<std::string, int, std::less<>> numbers_;
  std::map<int, Place> places_;
};

}  // namespace

GrammarRules read_gbnf(std::string_view text, std::string_view root, const GrammarLimits& limits) {
  return GbnfReader(text, limits).run(root);
}

}  // namespace cudal1
