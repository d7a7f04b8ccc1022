#include "writer/rewrite/chosen_nodes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "program/node_names.hpp"
#include "writer/rewrite/graph_edit.hpp"

namespace cudal1 {
namespace {

std::optional<std::string> why_not(const Draft& draft, const Node& node, const DirectiveToken& word,
                                   const Objection& objection) {
  if (const auto by = draft.taken_by(node.name))
    return fmt::format("{} is replaced already, by {}; write '{}' above that line", quoted(node.name), *by, word.text);
  const auto reason = objection(node);
  if (!reason) return std::nullopt;
  return fmt::format("{} is not for '{}': {}", quoted(node.name), word.text, *reason);
}

}  // namespace

std::vector<ChosenNode> read_chosen_nodes(TokenCursor& cursor, const DirectiveToken& word, const Draft& draft,
                                          const Objection& objection, std::string_view until) {
  const std::vector<NamedNode> named = read_node_names(cursor, draft.graph, until);
  if (named.empty())
    reject(Status::parse_error, cursor.peek().at, fmt::format("expected the names of nodes after '{}'", word.text));
  std::vector<ChosenNode> chosen;
  for (std::size_t begin = 0, end = 0; begin < named.size(); begin = end) {
    while (end < named.size() && named[end].at == named[begin].at) ++end;
    std::string first_reason;
    const std::size_t before = chosen.size();
    for (std::size_t i = begin; i < end; ++i) {
      const Node& node = draft.graph.nodes[named[i].node];
      if (const auto reason = why_not(draft, node, word, objection)) {
        if (first_reason.empty()) first_reason = *reason;
      } else if (std::ranges::find(chosen, node.name, &ChosenNode::name) == chosen.end()) {
        chosen.push_back({node.name, named[i].at, end - begin > 1});
      } else {
        reject(Status::plan_error, named[i].at, fmt::format("node {} is listed twice", quoted(node.name)));
      }
    }
    if (chosen.size() == before) reject(Status::plan_error, named[begin].at, first_reason);
  }
  return chosen;
}

std::optional<std::string> objection_of_readers(const Draft& draft, ValueId value) {
  for (const int reader : readers_of_memory(draft.graph, value)) {
    const std::string& name = draft.graph.nodes[reader].name;
    if (const auto by = draft.taken_by(name))
      return fmt::format("{} reads it and is replaced already, by {}; change that order", quoted(name), *by);
  }
  return std::nullopt;
}

ChosenNode read_chosen_node(TokenCursor& cursor, const DirectiveToken& word, const Draft& draft) {
  const DirectiveToken token = cursor.next();
  const int node = token.is_word() ? draft.graph.find_node(token.text) : -1;
  if (node < 0)
    reject(token.is_word() ? Status::plan_error : Status::parse_error, token.at,
           fmt::format("'{}' needs the name of a node here, not {}", word.text, shown(token)));
  if (const auto by = draft.taken_by(draft.graph.nodes[node].name))
    reject(
        Status::plan_error, token.at,
        fmt::format("{} is replaced already, by {}; write '{}' above that line", quoted(token.text), *by, word.text));
  return {draft.graph.nodes[node].name, token.at, false};
}

std::pair<ChosenNode, ChosenNode> read_node_into_node(TokenCursor& cursor, const DirectiveToken& word,
                                                      const Draft& draft) {
  const ChosenNode first = read_chosen_node(cursor, word, draft);
  const DirectiveToken into = cursor.next();
  if (into.text != "into") reject(Status::parse_error, into.at, fmt::format("expected 'into', found {}", shown(into)));
  const ChosenNode second = read_chosen_node(cursor, word, draft);
  expect_end(cursor, word);
  return {first, second};
}

void expect_end(const TokenCursor& cursor, const DirectiveToken& word) {
  if (!cursor.at_end())
    reject(Status::parse_error, cursor.peek().at,
           fmt::format("expected the end of the '{}' line, found {}", word.text, shown(cursor.peek())));
}

}  // namespace cudal1
