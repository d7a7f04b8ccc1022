#include "model/grammar/stack_sets.hpp"

#include <algorithm>
#include <utility>

namespace cudal1 {
namespace {

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
  hash ^= value + 0x9E3779B97F4A7C15ULL + (hash << 6) + (hash >> 2);
  return hash * 0xBF58476D1CE4E5B9ULL;
}

}  // namespace

StackSets::StackSets() : known_(16, HashOf{this}, SameEntries{this}) {
  hold(intern({}));
  hold(intern({{GrammarAutomaton::end_of_text, none}}));
}

StackSetId StackSets::of(std::vector<Entry> entries) {
  std::ranges::sort(entries);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (kept > 0 && entries[kept - 1].top == entries[i].top)
      entries[kept - 1].below = joined(entries[kept - 1].below, entries[i].below);
    else
      entries[kept++] = entries[i];
  }
  entries.resize(kept);
  return intern(std::move(entries));
}

//! Recursion is as deep as the sets are high, which the matcher bounds.
StackSetId StackSets::joined(StackSetId a, StackSetId b) {
  if (a == b || b == none) return a;
  if (a == none) return b;
  if (a > b) std::swap(a, b);
  const std::uint64_t key = (std::uint64_t{a} << 32) | b;
  if (const auto found = joins_.find(key); found != joins_.end()) return found->second;
  std::vector<Entry> all = entries(a);
  all.insert(all.end(), entries(b).begin(), entries(b).end());
  const StackSetId result = of(std::move(all));
  joins_.emplace(key, result);
  return result;
}

StackSetId StackSets::intern(std::vector<Entry> entries) {
  const StackSetId id = free_slot();
  Set& set = sets_[id];
  set.entries = std::move(entries);
  set.hash = 0;
  set.height = 0;
  set.holders = 0;
  for (const Entry& entry : set.entries) {
    set.hash = mixed(set.hash, (std::uint64_t{entry.top} << 32) | entry.below);
    set.height = std::max(set.height, 1 + sets_[entry.below].height);
  }
  const auto [known, fresh] = known_.insert(id);
  if (fresh) return id;
  sets_[id].entries.clear();
  free_.push_back(id);
  return *known;
}

StackSetId StackSets::free_slot() {
  if (free_.empty()) {
    sets_.emplace_back();
    return static_cast<StackSetId>(sets_.size() - 1);
  }
  const StackSetId id = free_.back();
  free_.pop_back();
  return id;
}

void StackSets::remove_unheld() {
  std::vector<bool> reached(sets_.size());
  std::vector<StackSetId> waiting;
  const auto reach = [&](StackSetId id) {
    if (reached[id]) return;
    reached[id] = true;
    waiting.push_back(id);
  };
  for (const StackSetId id : known_)
    if (sets_[id].holders > 0) reach(id);
  while (!waiting.empty()) {
    const StackSetId id = waiting.back();
    waiting.pop_back();
    for (const Entry& entry : sets_[id].entries) reach(entry.below);
  }
  joins_.clear();
  for (auto id = known_.begin(); id != known_.end();) {
    if (reached[*id]) {
      ++id;
      continue;
    }
    free_.push_back(*id);
    id = known_.erase(id);
    sets_[free_.back()].entries = {};
  }
}

}  // namespace cudal1
