// Sets of stacks, each kept once: where the rules that have called each other go on.
//
// A text can often be read in several ways, and each way has a stack of its own: the place in the rule that is being
// read, the place in the rule that called it, and so on. Their number may grow with every byte. A set of them is
// therefore a tree with common ends shared: top places, each at most once, and below each the set of what may lie under
// it. Equal sets have equal ids, so ids can be keys of caches.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "model/grammar/grammar_automaton.hpp"

namespace cudal1 {

using StackSetId = std::uint32_t;

class StackSets {
 public:
  struct Entry {
    AutomatonNode top = 0;
    StackSetId below = 0;
    bool operator==(const Entry&) const = default;
    auto operator<=>(const Entry&) const = default;
  };

  StackSets();
  StackSets(const StackSets&) = delete;
  StackSets& operator=(const StackSets&) = delete;

  //! The set without any stack: no way leads on.
  static constexpr StackSetId none = 0;
  //! The set of one stack in which nothing but the end of the text is left.
  static constexpr StackSetId bottom = 1;

  //! All these stacks; the entries may be in any order and have tops in common.
  StackSetId of(std::vector<Entry> entries);
  StackSetId joined(StackSetId a, StackSetId b);

  const std::vector<Entry>& entries(StackSetId id) const { return sets_[id].entries; }
  //! Of the highest stack.
  int height(StackSetId id) const { return sets_[id].height; }

  //! Sets that are held, and what they consist of, outlive remove_unheld.
  void hold(StackSetId id) { ++sets_[id].holders; }
  void release(StackSetId id) { --sets_[id].holders; }
  //! Ids of what is removed are given to other sets later.
  void remove_unheld();
  std::size_t count() const { return known_.size(); }
  std::size_t capacity() const { return sets_.size(); }

 private:
  struct Set {
    std::vector<Entry> entries;  //!< ascending, each top once
    std::uint64_t hash = 0;
    std::int64_t holders = 0;
    int height = 0;
  };
  struct HashOf {
    const StackSets* sets;
    std::size_t operator()(StackSetId id) const { return static_cast<std::size_t>(sets->sets_[id].hash); }
  };
  struct SameEntries {
    const StackSets* sets;
    bool operator()(StackSetId a, StackSetId b) const { return sets->entries(a) == sets->entries(b); }
  };
  StackSetId intern(std::vector<Entry> entries);
  StackSetId free_slot();

  std::vector<Set> sets_;
  std::vector<StackSetId> free_;
  std::unordered_set<StackSetId, HashOf, SameEntries> known_;
  std::unordered_map<std::uint64_t, StackSetId> joins_;  //!< by both ids, the smaller one above
};

}  // namespace cudal1
