// Follows texts through a grammar, byte by byte.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "model/grammar/grammar_automaton.hpp"
#include "model/grammar/stack_sets.hpp"

namespace cudal1 {

class GrammarMatcher;

//! Where one text stands. Copies are cheap and go their own ways; all must be gone before their matcher is.
class GrammarState {
 public:
  GrammarState() = default;  //!< of no matcher: to be assigned to
  GrammarState(const GrammarState& other);
  GrammarState(GrammarState&& other) noexcept : matcher_(std::exchange(other.matcher_, nullptr)), id_(other.id_) {}
  GrammarState& operator=(GrammarState other) noexcept {
    std::swap(matcher_, other.matcher_);
    std::swap(id_, other.id_);
    return *this;
  }
  ~GrammarState();

  //! The same texts can follow. States of one matcher only are compared.
  bool operator==(const GrammarState& other) const { return id_ == other.id_; }
  //! Nothing can follow, not even the end.
  bool is_dead() const { return id_ == StackSets::none; }
  StackSetId id() const { return id_; }

 private:
  friend class GrammarMatcher;
  GrammarState(GrammarMatcher* matcher, StackSetId id);

  GrammarMatcher* matcher_ = nullptr;
  StackSetId id_ = StackSets::none;
};

//! For one thread at a time: it remembers what it has worked out.
class GrammarMatcher {
 public:
  struct Options {
    int deepest_nesting = 1000;          //!< of rules in each other; a text that goes deeper is not followed
    std::size_t sets_to_keep = 1 << 16;  //!< about so many, and those of states that are held
  };

  explicit GrammarMatcher(GrammarAutomaton automaton) : GrammarMatcher(std::move(automaton), Options{}) {}
  GrammarMatcher(GrammarAutomaton automaton, Options options);
  GrammarMatcher(const GrammarMatcher&) = delete;
  GrammarMatcher& operator=(const GrammarMatcher&) = delete;

  //! Before the first byte.
  GrammarState start() { return {this, start_}; }
  //! False: the grammar derives no text that begins so; the state is dead then.
  bool advance(GrammarState& state, std::string_view bytes);
  //! The text so far is one of the grammar's.
  bool may_end(const GrammarState& state) const { return may_end(state.id()); }
  //! A state for an id of this matcher and generation.
  GrammarState state_of(StackSetId id) { return {this, id}; }

  //! What follows a byte; StackSets::none: nothing.
  StackSetId step(StackSetId from, std::uint8_t byte) {
    const std::uint8_t byte_class = automaton_.class_of(byte);
    if (from < transitions_.size() && !transitions_[from].empty()) {
      const StackSetId known = transitions_[from][byte_class];
      if (known != unknown) return known;
    }
    return compute_step(from, byte);
  }
  bool may_end(StackSetId id) const;

  //! Forgets what no state needs, if there is much of it.
  void tidy();
  //! Another number than before: ids were given up, and caches by id are void.
  std::uint64_t generation() const { return generation_; }
  std::size_t set_count() const { return sets_.count(); }

 private:
  friend class GrammarState;
  static constexpr StackSetId unknown = UINT32_MAX;
  using Entry = StackSets::Entry;

  StackSetId compute_step(StackSetId from, std::uint8_t byte);
  //! The set in which all reading goes on from these places.
  StackSetId close(const std::vector<Entry>& places);
  void go_on_from(const Entry& place);
  void visit(const Entry& place);
  void add_steps(const NextSteps& steps, StackSetId below);
  void enter_called_rules();

  GrammarAutomaton automaton_;
  Options options_;
  StackSets sets_;
  std::size_t tidy_at_;
  std::uint64_t generation_ = 0;
  std::vector<std::vector<StackSetId>> transitions_;  //!< by set, then by class of byte; empty: none known
  StackSetId start_ = StackSets::none;

  // While a step is worked out:
  std::vector<Entry> waiting_, found_;
  std::unordered_set<std::uint64_t> seen_;
  std::map<int, std::pair<int, std::vector<Entry>>> called_;  //!< by rank: the rule, and where it will go on
};

}  // namespace cudal1
