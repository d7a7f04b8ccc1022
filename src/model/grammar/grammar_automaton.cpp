#include "model/grammar/grammar_automaton.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_set>

#include "base/result.hpp"
#include "model/grammar/grammar_analysis.hpp"
#include "model/grammar/utf8_ranges.hpp"

namespace cudal1 {

//! Builds each rule from its end to its beginning: what follows a part is there before the part.
class AutomatonBuilder {
 public:
  using Kind = GrammarAutomaton::Kind;
  using Expression = GrammarExpression;

  AutomatonBuilder(GrammarAutomaton& automaton, const GrammarRules& grammar, const GrammarAnalysis& analysis,
                   const GrammarLimits& limits)
      : automaton_(automaton), grammar_(grammar), analysis_(analysis), limits_(limits) {}

  void run() {
    automaton_.nodes_.push_back({});  // end_of_text
    const AutomatonNode end = add({});
    for (std::size_t rule = 0; rule < grammar_.rules.size(); ++rule) {
      rule_ = &grammar_.rules[rule];
      // Where no text comes out, nobody calls: such alternatives are left out.
      automaton_.starts_.push_back(analysis_.is_productive[rule] ? build(rule_->body, end) : end);
    }
  }

 private:
  AutomatonNode build(const Expression& expression, AutomatonNode next) {
    switch (expression.kind) {
      case Expression::Kind::literal:
        for (auto byte = expression.text.rbegin(); byte != expression.text.rend(); ++byte)
          next = add_byte({static_cast<std::uint8_t>(*byte), static_cast<std::uint8_t>(*byte)}, next);
        return next;
      case Expression::Kind::characters:
        return build_characters(expression, next);
      case Expression::Kind::sequence:
        for (auto part = expression.parts.rbegin(); part != expression.parts.rend(); ++part) next = build(*part, next);
        return next;
      case Expression::Kind::alternatives:
        return build_alternatives(expression, next);
      case Expression::Kind::repetition:
        return build_repetition(expression, next);
      case Expression::Kind::rule:
        return add({Kind::call, 0, 0, next, expression.rule});
    }
    return next;
  }

  AutomatonNode build_characters(const Expression& expression, AutomatonNode next) {
    std::map<std::tuple<int, int, AutomatonNode>, AutomatonNode> made;  // last bytes are shared
    std::vector<AutomatonNode> choices;
    for (const CharacterRange& range : expression.ranges) {
      for (const ByteSequence& sequence : byte_sequences(range)) {
        AutomatonNode node = next;
        for (int i = sequence.length - 1; i >= 0; --i) {
          const ByteRange bytes = sequence.bytes[static_cast<std::size_t>(i)];
          const auto [found, fresh] = made.try_emplace({bytes.first, bytes.last, node}, AutomatonNode{0});
          if (fresh) found->second = add_byte(bytes, node);
          node = found->second;
        }
        choices.push_back(node);
      }
    }
    return add_choice(std::move(choices));
  }

  AutomatonNode build_alternatives(const Expression& expression, AutomatonNode next) {
    std::vector<AutomatonNode> choices;
    for (const Expression& part : expression.parts)
      if (is_productive(part, analysis_.is_productive)) choices.push_back(build(part, next));
    return add_choice(std::move(choices));
  }

  AutomatonNode build_repetition(const Expression& expression, AutomatonNode next) {
    const Expression& part = expression.parts.front();
    if (!is_productive(part, analysis_.is_productive)) return next;
    const AutomatonNode behind = next;
    if (expression.most == Expression::no_limit) {
      const AutomatonNode loop = add_choice({next, next});
      const AutomatonNode body = build(part, loop);
      automaton_.choices_[automaton_.nodes_[loop].next] = {body, next};
      next = loop;
    } else {
      for (int i = expression.least; i < expression.most; ++i) next = add_choice({build(part, next), behind});
    }
    for (int i = 0; i < expression.least; ++i) {
      const AutomatonNode before = next;
      next = build(part, next);
      if (next == before) break;  // the empty text, however often
    }
    return next;
  }

  AutomatonNode add_byte(ByteRange bytes, AutomatonNode next) {
    return add({Kind::byte, bytes.first, bytes.last, next, -1});
  }

  AutomatonNode add_choice(std::vector<AutomatonNode> choices) {
    if (choices.size() == 1) return choices.front();
    total_choices_ += choices.size();
    automaton_.choices_.push_back(std::move(choices));
    return add({Kind::choice, 0, 0, static_cast<AutomatonNode>(automaton_.choices_.size() - 1), -1});
  }

  AutomatonNode add(GrammarAutomaton::Node node) {
    if (automaton_.nodes_.size() + total_choices_ >= limits_.most_automaton_nodes)
      throw Error(
          fmt::format("grammar: rule '{}' becomes too large when its repetitions are written out (more than {} "
                      "nodes in all): use smaller numbers in {{m,n}}, or *",
                      rule_ != nullptr ? rule_->name : "", limits_.most_automaton_nodes));
    automaton_.nodes_.push_back(node);
    return static_cast<AutomatonNode>(automaton_.nodes_.size() - 1);
  }

  GrammarAutomaton& automaton_;
  const GrammarRules& grammar_;
  const GrammarAnalysis& analysis_;
  const GrammarLimits& limits_;
  const GrammarRule* rule_ = nullptr;
  std::size_t total_choices_ = 0;
};

GrammarAutomaton::GrammarAutomaton(const GrammarRules& grammar, const GrammarLimits& limits) : root_(grammar.root) {
  GrammarAnalysis analysis = analyse(grammar);
  const std::size_t root = static_cast<std::size_t>(root_);
  if (!analysis.is_productive[root])
    throw Error(fmt::format("grammar: no text of rule '{}' ever ends; give its recursion an alternative without it",
                            grammar.rules[root].name));
  AutomatonBuilder(*this, grammar, analysis, limits).run();
  root_may_be_empty_ = analysis.may_be_empty[root];
  ranks_ = std::move(analysis.rank);
  may_be_empty_ = std::move(analysis.may_be_empty);
  next_steps_of_.assign(nodes_.size(), -1);
  find_byte_classes();
}

void GrammarAutomaton::find_byte_classes() {
  std::array<bool, 257> begins_class{};
  for (const Node& node : nodes_)
    if (node.kind == Kind::byte) begins_class[node.first] = begins_class[node.last + std::size_t{1}] = true;
  int current = 0;
  for (std::size_t byte = 0; byte < 256; ++byte) {
    if (byte > 0 && begins_class[byte]) ++current;
    byte_classes_[byte] = static_cast<std::uint8_t>(current);
  }
  class_count_ = current + 1;
}

const NextSteps& GrammarAutomaton::next_steps(AutomatonNode node) {
  if (next_steps_of_[node] < 0) {
    NextSteps steps = collect_next_steps(node);
    for (RuleCall& call : steps.calls) call.is_last = only_ends(call.back);
    next_steps_.push_back(std::move(steps));
    next_steps_of_[node] = static_cast<std::int32_t>(next_steps_.size() - 1);
  }
  return next_steps_[static_cast<std::size_t>(next_steps_of_[node])];
}

bool GrammarAutomaton::only_ends(AutomatonNode node) const {
  while (nodes_[node].kind == Kind::choice && choices_[nodes_[node].next].size() == 1)
    node = choices_[nodes_[node].next].front();
  return nodes_[node].kind == Kind::end;
}

NextSteps GrammarAutomaton::collect_next_steps(AutomatonNode start) const {
  NextSteps steps;
  std::vector<AutomatonNode> waiting;
  std::unordered_set<AutomatonNode> seen;
  const auto visit = [&](AutomatonNode node) {
    if (seen.insert(node).second) waiting.push_back(node);
  };
  visit(start);
  while (!waiting.empty()) {
    const AutomatonNode id = waiting.back();
    const Node& node = nodes_[id];
    waiting.pop_back();
    if (node.kind == Kind::byte) steps.bytes.push_back(id);
    if (node.kind == Kind::end) steps.rule_may_end = true;
    if (node.kind == Kind::call) {
      steps.calls.push_back({node.rule, node.next, false});
      if (may_be_empty_[static_cast<std::size_t>(node.rule)]) visit(node.next);
    }
    if (node.kind == Kind::choice)
      for (const AutomatonNode choice : choices_[node.next]) visit(choice);
  }
  return steps;
}

}  // namespace cudal1
