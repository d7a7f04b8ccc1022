// A grammar as automata over bytes, one for each rule, which call each other.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "model/grammar/gbnf_reader.hpp"
#include "model/grammar/grammar_rules.hpp"

namespace cudal1 {

using AutomatonNode = std::uint32_t;

//! A rule that is called, and where to go on behind it.
struct RuleCall {
  int rule = 0;
  AutomatonNode back = 0;
  bool is_last = false;  //!< behind it the calling rule ends, too, and nothing needs to be remembered
};

//! What can come next at a node, before any byte was read.
struct NextSteps {
  std::vector<AutomatonNode> bytes;  //!< nodes that read a byte
  std::vector<RuleCall> calls;       //!< of rules that may begin here
  bool rule_may_end = false;
};

class GrammarAutomaton {
 public:
  //! Throws Error: left recursion, more nodes than the limit, a root from which no text ever ends.
  explicit GrammarAutomaton(const GrammarRules& grammar, const GrammarLimits& limits = {});

  //! The node that stands for "the whole text may end here".
  static constexpr AutomatonNode end_of_text = 0;

  int root() const { return root_; }
  bool root_may_be_empty() const { return root_may_be_empty_; }
  AutomatonNode start_of(int rule) const { return starts_[static_cast<std::size_t>(rule)]; }
  //! Rules that can be called at the start of a rule have a higher rank than it.
  int rank_of(int rule) const { return ranks_[static_cast<std::size_t>(rule)]; }

  //! Of a node that reads a byte.
  bool reads(AutomatonNode node, std::uint8_t byte) const {
    return byte >= nodes_[node].first && byte <= nodes_[node].last;
  }
  AutomatonNode after(AutomatonNode node) const { return nodes_[node].next; }

  //! Worked out when it is asked for the first time. The reference is valid until the next call.
  const NextSteps& next_steps(AutomatonNode node);

  //! Bytes that no node tells apart have one class.
  std::uint8_t class_of(std::uint8_t byte) const { return byte_classes_[byte]; }
  int class_count() const { return class_count_; }
  std::size_t node_count() const { return nodes_.size(); }

 private:
  friend class AutomatonBuilder;
  enum class Kind : std::uint8_t { byte, choice, call, end };
  struct Node {
    Kind kind = Kind::end;
    std::uint8_t first = 0, last = 0;  //!< byte
    AutomatonNode next = 0;            //!< byte: behind it; call: where to go on; choice: index into choices_
    int rule = -1;                     //!< call
  };
  NextSteps collect_next_steps(AutomatonNode node) const;
  bool only_ends(AutomatonNode node) const;
  void find_byte_classes();

  std::vector<Node> nodes_;
  std::vector<std::vector<AutomatonNode>> choices_;
  std::vector<AutomatonNode> starts_;
  std::vector<int> ranks_;
  std::vector<bool> may_be_empty_;
  int root_ = 0;
  bool root_may_be_empty_ = false;
  std::array<std::uint8_t, 256> byte_classes_{};
  int class_count_ = 1;
  std::vector<std::int32_t> next_steps_of_;  //!< by node: index into next_steps_, -1: not asked for yet
  std::vector<NextSteps> next_steps_;
};

}  // namespace cudal1
