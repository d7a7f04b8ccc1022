// The nodes that a line of a rewrite names, and why one of them is not for it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "program/directive_tokens.hpp"
#include "program/rejection.hpp"
#include "writer/draft.hpp"

namespace cudal1 {

struct ChosenNode {
  std::string name;  //!< stays the same while others are added
  SourcePosition at;
  bool by_pattern = false;  //!< together with others
};

//! Why a node is not for this rewrite; nothing: it is.
using Objection = std::function<std::optional<std::string>(const Node& node)>;

//! Reads names up to `:`, the word `until` or the end. A name must be for the rewrite; of those that a pattern chooses, the others are left
//! out, unless that leaves none. Throws Rejection, also for nodes that a line above has replaced.
std::vector<ChosenNode> read_chosen_nodes(TokenCursor& cursor, const DirectiveToken& word, const Draft& draft,
                                          const Objection& objection, std::string_view until = {});

//! A line above has replaced a node that reads this value, and its kernels expect the value as it is now.
std::optional<std::string> objection_of_readers(const Draft& draft, ValueId value);

//! One node by its name, which a line above has not replaced.
ChosenNode read_chosen_node(TokenCursor& cursor, const DirectiveToken& word, const Draft& draft);

//! `NODE into NODE`, and nothing behind it.
std::pair<ChosenNode, ChosenNode> read_node_into_node(TokenCursor& cursor, const DirectiveToken& word,
                                                      const Draft& draft);

//! Throws Rejection unless the line ends here.
void expect_end(const TokenCursor& cursor, const DirectiveToken& word);

}  // namespace cudal1
