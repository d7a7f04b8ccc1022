#include "model/grammar/grammar_matcher.hpp"

#include <algorithm>

namespace cudal1 {

GrammarState::GrammarState(GrammarMatcher* matcher, StackSetId id) : matcher_(matcher), id_(id) {
  matcher_->sets_.hold(id_);
}

GrammarState::GrammarState(const GrammarState& other) : matcher_(other.matcher_), id_(other.id_) {
  if (matcher_ != nullptr) matcher_->sets_.hold(id_);
}

GrammarState::~GrammarState() {
  if (matcher_ != nullptr) matcher_->sets_.release(id_);
}

GrammarMatcher::GrammarMatcher(GrammarAutomaton automaton, Options options)
    : automaton_(std::move(automaton)), options_(options), tidy_at_(options.sets_to_keep) {
  const int root = automaton_.root();
  called_[automaton_.rank_of(root)] = {root, {{GrammarAutomaton::end_of_text, StackSets::none}}};
  if (automaton_.root_may_be_empty()) found_.push_back({GrammarAutomaton::end_of_text, StackSets::none});
  start_ = close({});
  sets_.hold(start_);
}

bool GrammarMatcher::advance(GrammarState& state, std::string_view bytes) {
  tidy();
  StackSetId id = state.id();
  for (const char byte : bytes) id = step(id, static_cast<std::uint8_t>(byte));
  state = state_of(id);
  return id != StackSets::none;
}

bool GrammarMatcher::may_end(StackSetId id) const {
  const auto& entries = sets_.entries(id);
  return !entries.empty() && entries.front().top == GrammarAutomaton::end_of_text;
}

void GrammarMatcher::tidy() {
  if (sets_.count() < tidy_at_) return;
  sets_.remove_unheld();
  transitions_.clear();
  // Where most of them are held, looking again soon would find nothing.
  tidy_at_ = std::max(options_.sets_to_keep, 2 * sets_.count());
  ++generation_;
}

StackSetId GrammarMatcher::compute_step(StackSetId from, std::uint8_t byte) {
  std::vector<Entry> places;
  for (const Entry& entry : sets_.entries(from))
    if (entry.top != GrammarAutomaton::end_of_text && automaton_.reads(entry.top, byte))
      places.push_back({automaton_.after(entry.top), entry.below});
  const StackSetId to = close(places);
  if (transitions_.size() <= from) transitions_.resize(sets_.capacity());
  auto& row = transitions_[from];
  if (row.empty()) row.assign(static_cast<std::size_t>(automaton_.class_count()), unknown);
  row[automaton_.class_of(byte)] = to;
  return to;
}

StackSetId GrammarMatcher::close(const std::vector<Entry>& places) {
  for (const Entry& place : places) visit(place);
  while (!waiting_.empty()) {
    const Entry place = waiting_.back();
    waiting_.pop_back();
    go_on_from(place);
  }
  enter_called_rules();
  seen_.clear();
  return sets_.of(std::exchange(found_, {}));
}

void GrammarMatcher::visit(const Entry& place) {
  if (seen_.insert((std::uint64_t{place.top} << 32) | place.below).second) waiting_.push_back(place);
}

void GrammarMatcher::go_on_from(const Entry& place) {
  if (place.top == GrammarAutomaton::end_of_text) {
    found_.push_back(place);
    return;
  }
  const NextSteps& steps = automaton_.next_steps(place.top);
  add_steps(steps, place.below);
  if (!steps.rule_may_end) return;
  for (const Entry& caller : sets_.entries(place.below)) visit(caller);
}

void GrammarMatcher::add_steps(const NextSteps& steps, StackSetId below) {
  for (const AutomatonNode node : steps.bytes) found_.push_back({node, below});
  for (const RuleCall& call : steps.calls) {
    auto& [rule, returns] = called_[automaton_.rank_of(call.rule)];
    rule = call.rule;
    if (!call.is_last)
      returns.push_back({call.back, below});
    else
      returns.insert(returns.end(), sets_.entries(below).begin(), sets_.entries(below).end());
  }
}

//! In the order of ranks, so that each rule is entered once, for all who call it. That a rule may be empty has been
//! seen where it was called.
void GrammarMatcher::enter_called_rules() {
  while (!called_.empty()) {
    const auto [rule, returns] = std::move(called_.begin()->second);
    called_.erase(called_.begin());
    const StackSetId below = sets_.of(returns);
    if (sets_.height(below) > options_.deepest_nesting) continue;
    add_steps(automaton_.next_steps(automaton_.start_of(rule)), below);
  }
}

}  // namespace cudal1
