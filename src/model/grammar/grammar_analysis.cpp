#include "model/grammar/grammar_analysis.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/result.hpp"
#include "model/grammar/utf8_ranges.hpp"

namespace cudal1 {
namespace {

using Kind = GrammarExpression::Kind;

std::size_t index(int rule) { return static_cast<std::size_t>(rule); }

void collect_rules(const GrammarExpression& expression, std::vector<int>& rules) {
  if (expression.kind == Kind::rule) rules.push_back(expression.rule);
  for (const GrammarExpression& part : expression.parts) collect_rules(part, rules);
}

//! Rules with which a text of the expression can begin.
void collect_first_rules(const GrammarExpression& expression, const std::vector<bool>& empty, std::vector<int>& rules) {
  if (expression.kind == Kind::rule) rules.push_back(expression.rule);
  for (const GrammarExpression& part : expression.parts) {
    collect_first_rules(part, empty, rules);
    if (expression.kind == Kind::sequence && !may_be_empty(part, empty)) return;
  }
}

//! The smallest set of rules with `holds(body, set)`. A rule is looked at again when one that it mentions came in.
template <class Holds>
std::vector<bool> smallest_set(const GrammarRules& grammar, Holds holds) {
  std::vector<std::vector<int>> mentioned_by(grammar.rules.size());
  std::vector<int> waiting;
  for (std::size_t rule = 0; rule < grammar.rules.size(); ++rule) {
    std::vector<int> mentions;
    collect_rules(grammar.rules[rule].body, mentions);
    std::ranges::sort(mentions);
    mentions.erase(std::unique(mentions.begin(), mentions.end()), mentions.end());
    for (const int mentioned : mentions) mentioned_by[index(mentioned)].push_back(static_cast<int>(rule));
    waiting.push_back(static_cast<int>(rule));
  }
  std::vector<bool> set(grammar.rules.size(), false);
  while (!waiting.empty()) {
    const std::size_t rule = index(waiting.back());
    waiting.pop_back();
    if (set[rule] || !holds(grammar.rules[rule].body, set)) continue;
    set[rule] = true;
    waiting.insert(waiting.end(), mentioned_by[rule].begin(), mentioned_by[rule].end());
  }
  return set;
}

//! Depth first through "can begin with", without recursion: chains of rules may be as long as the grammar.
class Ranking {
 public:
  Ranking(const GrammarRules& grammar, const std::vector<bool>& empty)
      : grammar_(grammar), empty_(empty), rank_(grammar.rules.size(), unseen) {}

  std::vector<int> run() {
    for (std::size_t rule = 0; rule < grammar_.rules.size(); ++rule)
      if (rank_[rule] == unseen) visit(static_cast<int>(rule));
    return std::move(rank_);
  }

 private:
  static constexpr int unseen = -1, open = -2;
  struct Step {
    int rule = 0;
    std::vector<int> first_rules;
    std::size_t next = 0;
  };

  void visit(int start) {
    enter(start);
    while (!path_.empty()) {
      Step& step = path_.back();
      if (step.next == step.first_rules.size()) {
        // Left after all that it can begin with: numbered downwards, so that these have higher ranks.
        rank_[index(step.rule)] = static_cast<int>(grammar_.rules.size()) - ++left_;
        path_.pop_back();
        continue;
      }
      const int first = step.first_rules[step.next++];
      if (rank_[index(first)] == open) refuse_circle(first);
      if (rank_[index(first)] == unseen) enter(first);
    }
  }

  void enter(int rule) {
    rank_[index(rule)] = open;
    Step& step = path_.emplace_back();
    step.rule = rule;
    collect_first_rules(grammar_.rules[index(rule)].body, empty_, step.first_rules);
  }

  [[noreturn]] void refuse_circle(int rule) const {
    const auto begin = std::ranges::find(path_, rule, &Step::rule);
    std::string way;
    constexpr std::ptrdiff_t most_shown = 12;
    for (auto step = begin; step != path_.end() && step - begin < most_shown; ++step) way += name(step->rule) + " -> ";
    if (path_.end() - begin > most_shown) way += "… -> ";
    throw Error(fmt::format(
        "grammar: rule '{0}' begins with itself ({1}{0}), which cannot be followed; write the repetition with * or "
        "with the rule at the end",
        name(rule), way));
  }

  const std::string& name(int rule) const { return grammar_.rules[index(rule)].name; }

  const GrammarRules& grammar_;
  const std::vector<bool>& empty_;
  std::vector<int> rank_;
  std::vector<Step> path_;
  int left_ = 0;
};

}  // namespace

bool may_be_empty(const GrammarExpression& expression, const std::vector<bool>& rules) {
  const auto part_may = [&](const GrammarExpression& part) { return may_be_empty(part, rules); };
  switch (expression.kind) {
    case Kind::literal:
      return expression.text.empty();
    case Kind::characters:
      return false;
    case Kind::sequence:
      return std::ranges::all_of(expression.parts, part_may);
    case Kind::alternatives:
      return std::ranges::any_of(expression.parts, part_may);
    case Kind::repetition:
      return expression.least == 0 || part_may(expression.parts.front());
    case Kind::rule:
      return rules[index(expression.rule)];
  }
  return false;
}

bool is_productive(const GrammarExpression& expression, const std::vector<bool>& rules) {
  const auto part_is = [&](const GrammarExpression& part) { return is_productive(part, rules); };
  switch (expression.kind) {
    case Kind::literal:
      return true;
    case Kind::characters:
      return std::ranges::any_of(expression.ranges,
                                 [](const CharacterRange& range) { return !byte_sequences(range).empty(); });
    case Kind::sequence:
      return std::ranges::all_of(expression.parts, part_is);
    case Kind::alternatives:
      return std::ranges::any_of(expression.parts, part_is);
    case Kind::repetition:
      return expression.least == 0 || part_is(expression.parts.front());
    case Kind::rule:
      return rules[index(expression.rule)];
  }
  return false;
}

GrammarAnalysis analyse(const GrammarRules& grammar) {
  GrammarAnalysis result;
  result.may_be_empty = smallest_set(grammar, may_be_empty);
  result.rank = Ranking(grammar, result.may_be_empty).run();
  result.is_productive = smallest_set(grammar, is_productive);
  return result;
}

}  // namespace cudal1
