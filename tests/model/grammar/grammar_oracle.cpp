#include "grammar_oracle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/utf8.hpp"
#include "model/grammar/utf8_ranges.hpp"

namespace cudal1 {
namespace {

using Kind = GrammarExpression::Kind;

bool is_in(const std::vector<CharacterRange>& ranges, char32_t character) {
  return std::ranges::any_of(
      ranges, [&](const CharacterRange& range) { return character >= range.first && character <= range.last; });
}

bool has_character(const std::vector<CharacterRange>& ranges) {
  return std::ranges::any_of(
      ranges, [](const CharacterRange& range) { return range.first < first_surrogate || range.last > last_surrogate; });
}

}  // namespace

GrammarOracle::GrammarOracle(const GrammarRules& grammar) : grammar_(grammar), productive_(grammar.rules.size()) {
  for (std::size_t round = 0; round <= grammar.rules.size(); ++round)
    for (std::size_t rule = 0; rule < grammar.rules.size(); ++rule)
      productive_[rule] = productive(grammar.rules[rule].body);
}

bool GrammarOracle::productive(const GrammarExpression& expression) const {
  const auto part = [&](const GrammarExpression& inner) { return productive(inner); };
  if (expression.kind == Kind::literal) return true;
  if (expression.kind == Kind::characters) return has_character(expression.ranges);
  if (expression.kind == Kind::sequence) return std::ranges::all_of(expression.parts, part);
  if (expression.kind == Kind::alternatives) return std::ranges::any_of(expression.parts, part);
  if (expression.kind == Kind::repetition) return expression.least == 0 || part(expression.parts[0]);
  return productive_[static_cast<std::size_t>(expression.rule)];
}

void GrammarOracle::look_at(std::string_view text) {
  text_ = text;
  known_ends_.clear();
  known_beyond_.clear();
}

bool GrammarOracle::derives(std::string_view text) {
  look_at(text);
  return ends(grammar_.rules[static_cast<std::size_t>(grammar_.root)].body, 0).contains(text.size());
}

bool GrammarOracle::derives_beginning(std::string_view text) {
  look_at(text);
  return goes_beyond(grammar_.rules[static_cast<std::size_t>(grammar_.root)].body, 0);
}

GrammarOracle::Places GrammarOracle::ends(const GrammarExpression& expression, std::size_t begin) {
  Places places;
  switch (expression.kind) {
    case Kind::literal:
      if (text_.substr(begin).starts_with(expression.text)) places.insert(begin + expression.text.size());
      return places;
    case Kind::characters:
      return ends_of_character(expression, begin);
    case Kind::sequence:
      places = {begin};
      for (const GrammarExpression& part : expression.parts) {
        Places further;
        for (const std::size_t place : places) further.merge(ends(part, place));
        places = further;
      }
      return places;
    case Kind::alternatives:
      for (const GrammarExpression& part : expression.parts) places.merge(ends(part, begin));
      return places;
    case Kind::repetition:
      return repeated(expression, begin).first;
    case Kind::rule:
      break;
  }
  const auto known = known_ends_.find({expression.rule, begin});
  if (known != known_ends_.end()) return known->second;
  places = ends(grammar_.rules[static_cast<std::size_t>(expression.rule)].body, begin);
  known_ends_[{expression.rule, begin}] = places;
  return places;
}

GrammarOracle::Places GrammarOracle::ends_of_character(const GrammarExpression& expression, std::size_t begin) const {
  if (begin >= text_.size()) return {};
  const Utf8Character character = first_character(text_.substr(begin));
  if (character.kind != Utf8Character::Kind::valid || !is_in(expression.ranges, character.code_point)) return {};
  return {begin + character.bytes};
}

std::pair<GrammarOracle::Places, GrammarOracle::Places> GrammarOracle::repeated(const GrammarExpression& expression,
                                                                                std::size_t begin) {
  // More copies than bytes add nothing but empty ones.
  const int enough = expression.least + static_cast<int>(text_.size()) + 1;
  const int most = expression.most == GrammarExpression::no_limit ? enough : std::min(expression.most, enough);
  Places current{begin}, after_least, before_most;
  for (int copies = 0; copies <= most; ++copies) {
    if (copies >= expression.least) after_least.insert(current.begin(), current.end());
    if (copies == most) break;
    before_most.insert(current.begin(), current.end());
    Places further;
    for (const std::size_t place : current) further.merge(ends(expression.parts[0], place));
    current = further;
  }
  return {after_least, before_most};
}

//! Is what is left of the text the beginning of one that the expression derives?
bool GrammarOracle::goes_beyond(const GrammarExpression& expression, std::size_t begin) {
  if (!productive(expression)) return false;
  const std::string_view rest = text_.substr(begin);
  switch (expression.kind) {
    case Kind::literal:
      return expression.text.starts_with(rest);
    case Kind::characters:
      return character_begins(expression, rest);
    case Kind::sequence: {
      Places places{begin};
      for (const GrammarExpression& part : expression.parts) {
        Places further;
        for (const std::size_t place : places) {
          if (goes_beyond(part, place)) return true;
          further.merge(ends(part, place));
        }
        places = further;
      }
      return places.contains(text_.size());
    }
    case Kind::alternatives:
      return std::ranges::any_of(expression.parts,
                                 [&](const GrammarExpression& part) { return goes_beyond(part, begin); });
    case Kind::repetition: {
      const auto [after_least, before_most] = repeated(expression, begin);
      return after_least.contains(text_.size()) || std::ranges::any_of(before_most, [&](std::size_t place) {
               return goes_beyond(expression.parts[0], place);
             });
    }
    case Kind::rule:
      break;
  }
  const auto known = known_beyond_.find({expression.rule, begin});
  if (known != known_beyond_.end()) return known->second;
  return known_beyond_[{expression.rule, begin}] =
             goes_beyond(grammar_.rules[static_cast<std::size_t>(expression.rule)].body, begin);
}

bool GrammarOracle::character_begins(const GrammarExpression& expression, std::string_view bytes) {
  if (bytes.size() > 4) return false;
  if (bytes.empty()) return true;
  for (const CharacterRange& range : expression.ranges)
    for (char32_t character = range.first; character <= range.last; ++character) {
      const bool is_surrogate = character >= first_surrogate && character <= last_surrogate;
      std::string encoded;
      append_utf8(character, encoded);
      if (!is_surrogate && encoded.starts_with(bytes)) return true;
    }
  return false;
}

namespace {

std::string escaped(char32_t character) { return fmt::format("\\U{:08X}", static_cast<std::uint32_t>(character)); }

std::string expression_text(const GrammarRules& grammar, const GrammarExpression& expression) {
  std::string text;
  switch (expression.kind) {
    case Kind::literal:
      return fmt::format("\"{}\"", expression.text);
    case Kind::characters:
      for (const CharacterRange& range : expression.ranges)
        text += fmt::format("{}-{}", escaped(range.first), escaped(range.last));
      return fmt::format("[{}]", text);
    case Kind::sequence:
      for (const GrammarExpression& part : expression.parts) text += expression_text(grammar, part) + " ";
      return fmt::format("({})", text);
    case Kind::alternatives:
      for (const GrammarExpression& part : expression.parts)
        text += (text.empty() ? "" : "\n | ") + expression_text(grammar, part);
      return fmt::format("({})", text);
    case Kind::repetition:
      text = expression.most == GrammarExpression::no_limit ? "" : fmt::format("{}", expression.most);
      return fmt::format("{}{{{},{}}}", expression_text(grammar, expression.parts[0]), expression.least, text);
    case Kind::rule:
      return grammar.rules[static_cast<std::size_t>(expression.rule)].name;
  }
  return text;
}

GrammarExpression random_expression(Random& random, int rules, int depth) {
  static const std::array<std::string, 7> literals = {
      "a", "b", "ab", "", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80"};
  static const std::array<std::vector<CharacterRange>, 6> classes = {{{{U'a', U'a'}},
                                                                      {{U'a', U'b'}},
                                                                      {{0xE8, 0xEA}},
                                                                      {{U'a', U'a'}, {0x20A0, 0x20AF}},
                                                                      {{0x80, 0xFFFF}},
                                                                      {{0xD800, 0xDFFF}}}};
  GrammarExpression made;
  const std::uint64_t kind = random.below(depth <= 0 ? 4 : 10);
  if (kind < 2) {
    made.text = literals[random.below(literals.size())];
  } else if (kind == 2) {
    made.kind = Kind::characters;
    made.ranges = classes[random.below(random.below(8) == 0 ? classes.size() : 4)];
  } else if (kind == 3) {
    made.kind = Kind::rule;
    made.rule = static_cast<int>(random.below(static_cast<std::uint64_t>(rules)));
  } else if (kind < 8) {
    made.kind = kind < 6 ? Kind::sequence : Kind::alternatives;
    for (std::uint64_t parts = 2 + random.below(2); parts > 0; --parts)
      made.parts.push_back(random_expression(random, rules, depth - 1));
  } else {
    made.kind = Kind::repetition;
    made.parts.push_back(random_expression(random, rules, depth - 1));
    made.least = static_cast<int>(random.below(3));
    if (random.below(2) == 0) made.most = made.least + static_cast<int>(random.below(3));
  }
  return made;
}

}  // namespace

std::string to_gbnf(const GrammarRules& grammar) {
  std::string text;
  for (const GrammarRule& rule : grammar.rules)
    text += fmt::format("{} ::= {}\n", rule.name, expression_text(grammar, rule.body));
  return text;
}

GrammarRules random_grammar(Random& random) {
  GrammarRules grammar;
  const int rules = 1 + static_cast<int>(random.below(4));
  for (int rule = 0; rule < rules; ++rule)
    grammar.rules.push_back({rule == 0 ? "root" : fmt::format("rule-{}", rule), random_expression(random, rules, 3)});
  return grammar;
}

}  // namespace cudal1
