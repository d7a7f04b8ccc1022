#include "train/run/toml_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/result.hpp"
#include "base/utf8.hpp"
#include "program/rejection.hpp"

namespace cudal1 {
namespace {

using nlohmann::json;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

bool is_unreadable(char c) { return static_cast<unsigned char>(c) < 0x20 && !is_blank(c); }

bool is_name_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-'; }

//! Goes through one line. Complaints are UsageErrors without a place: whoever knows the line adds it.
class LineReader {
 public:
  explicit LineReader(std::string_view line) : rest_(line) {}

  //! Past blanks; 0 at the end and before a comment.
  char peek() {
    while (!rest_.empty() && is_blank(rest_.front())) rest_.remove_prefix(1);
    return rest_.empty() || rest_.front() == '#' ? '\0' : rest_.front();
  }

  bool take(char c) {
    if (peek() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }

  void demand(char c, std::string_view where) {
    if (!take(c)) throw UsageError(fmt::format("expected '{}' {}", c, where));
  }

  void demand_end() {
    if (peek() != '\0') throw UsageError(fmt::format("what is {} behind the value?", quoted(rest_)));
  }

  std::string name(std::string_view what) {
    peek();
    const std::string_view found = taken(is_name_character);
    if (found.empty()) throw UsageError(fmt::format("expected the name of a {}", what));
    return std::string(found);
  }

  json value() {
    const char first = peek();
    if (first == '[') return array();
    return scalar();
  }

 private:
  template <class Predicate>
  std::string_view taken(Predicate belongs) {
    const auto end = std::ranges::find_if_not(rest_, belongs);
    const std::string_view found = rest_.substr(0, static_cast<std::size_t>(end - rest_.begin()));
    rest_.remove_prefix(found.size());
    return found;
  }

  json array() {
    demand('[', "before an array");
    json values = json::array();
    while (peek() != ']') {
      if (!values.empty()) {
        demand(',', "between values, or ']' behind them: an array stands on one line");
        if (peek() == ']') break;
      }
      if (peek() == '[') throw UsageError("arrays in arrays are not read");
      values.push_back(scalar());
    }
    demand(']', "behind an array");
    return values;
  }

  json scalar() {
    const char first = peek();
    if (first == '"') return escaped_string();
    if (first == '\'') return literal_string();
    const std::string_view word = taken([](char c) { return is_name_character(c) || c == '+' || c == '.'; });
    if (word == "true") return true;
    if (word == "false") return false;
    if (const std::optional<json> read = number(word)) return *read;
    if (word.empty()) throw UsageError("expected a value: a number, true, false, a string in quotes, or an array");
    throw UsageError(fmt::format("{} is no value: a string stands in quotes", quoted(word)));
  }

  std::string literal_string() {
    const std::size_t end = rest_.find('\'', 1);
    if (end == std::string_view::npos) throw UsageError("a string has no closing quote");
    const std::string text(rest_.substr(1, end - 1));
    rest_.remove_prefix(end + 1);
    return text;
  }

  std::string escaped_string() {
    std::string text;
    for (rest_.remove_prefix(1); !rest_.empty() && rest_.front() != '"'; rest_.remove_prefix(1))
      text += rest_.front() == '\\' ? escape() : rest_.front();
    if (rest_.empty()) throw UsageError("a string has no closing quote");
    rest_.remove_prefix(1);
    return text;
  }

  //! Leaves its last character.
  char escape() {
    static const std::map<char, char> meanings{{'"', '"'}, {'\\', '\\'}, {'n', '\n'}, {'t', '\t'}, {'r', '\r'}};
    rest_.remove_prefix(1);
    const auto known = rest_.empty() ? meanings.end() : meanings.find(rest_.front());
    if (known == meanings.end()) throw UsageError("a string has an escape other than \\\" \\\\ \\n \\t \\r");
    return known->second;
  }

  template <class Number>
  static std::optional<json> read_whole(const std::string& digits) {
    Number value{};
    const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (problem != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
    return json(value);
  }

  //! Integers stay exact; anything else is a double, and finite. 20_000 is 20000.
  static std::optional<json> number(std::string_view word) {
    std::string digits(word.starts_with('+') ? word.substr(1) : word);
    std::erase(digits, '_');
    const std::string_view unsigned_part = std::string_view(digits).substr(digits.starts_with('-') ? 1 : 0);
    if (unsigned_part.empty() || std::isdigit(static_cast<unsigned char>(unsigned_part.front())) == 0)
      return std::nullopt;
    if (auto value = read_whole<std::int64_t>(digits)) return value;
    if (auto value = read_whole<std::uint64_t>(digits)) return value;
    auto value = read_whole<double>(digits);
    return value && std::isfinite(value->get<double>()) ? value : std::nullopt;
  }

  std::string_view rest_;
};

class TomlReader {
 public:
  explicit TomlReader(std::string_view origin) : origin_(origin) {}

  void read_line(std::string_view line, int number) {
    try {
      read_line(LineReader(line), number);
    } catch (const UsageError& problem) {
      complain_of_line(origin_, number, problem.what());
    }
  }

  std::vector<TomlEntry> entries;

 private:
  void read_line(LineReader line, int number) {
    if (line.peek() == '\0') return;
    if (line.take('[')) return begin_section(line);
    TomlEntry entry{section_, line.name("key"), {}, number};
    line.demand('=', fmt::format("behind the key '{}'", entry.key));
    entry.value = line.value();
    line.demand_end();
    const auto [first, is_new] = lines_.try_emplace({section_, entry.key}, number);
    if (!is_new) throw UsageError(fmt::format("'{}' stands in line {} already", entry.key, first->second));
    entries.push_back(std::move(entry));
  }

  void begin_section(LineReader& line) {
    section_ = line.name("section");
    line.demand(']', "behind the name of a section");
    line.demand_end();
    if (!sections_.insert(section_).second) throw UsageError(fmt::format("section [{}] is there already", section_));
  }

  std::string_view origin_;
  std::string section_;
  std::set<std::string> sections_;
  std::map<std::pair<std::string, std::string>, int> lines_;
};

std::string string_text(const std::string& text) {
  static const std::map<char, std::string> escapes{
      {'"', "\\\""}, {'\\', "\\\\"}, {'\n', "\\n"}, {'\t', "\\t"}, {'\r', "\\r"}};
  std::string quoted_text = "\"";
  for (const char c : text) {
    const auto escape = escapes.find(c);
    quoted_text += escape == escapes.end() ? std::string(1, c) : escape->second;
  }
  return quoted_text + "\"";
}

}  // namespace

void complain_of_line(std::string_view origin, int line, const std::string& what) {
  throw UsageError(fmt::format("{}:{}: {}", origin, line, what));
}

std::vector<TomlEntry> read_toml(std::string_view text, std::string_view origin) {
  TomlReader reader(origin);
  int number = 0;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    ++number;
    if (!is_valid_utf8(line)) complain_of_line(origin, number, "is not UTF-8");
    if (std::ranges::any_of(line, is_unreadable)) complain_of_line(origin, number, "has a control character");
    reader.read_line(line, number);
    begin = end + 1;
  }
  return std::move(reader.entries);
}

json read_toml_value(std::string_view text) {
  LineReader reader(text);
  json value = reader.value();
  reader.demand_end();
  return value;
}

std::string toml_text(const json& value) {
  if (value.is_string()) return string_text(value.get<std::string>());
  if (value.is_number_float()) return fmt::format("{}", value.get<double>());
  if (!value.is_array()) return value.dump();
  std::string text;
  for (const json& one : value) text += (text.empty() ? "" : ", ") + toml_text(one);
  return "[" + text + "]";
}

}  // namespace cudal1
