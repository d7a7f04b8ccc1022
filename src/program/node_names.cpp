#include "program/node_names.hpp"

#include <fmt/format.h>

#include "program/nearest_name.hpp"
#include "program/rejection.hpp"

namespace cudal1 {
namespace {

//! `*` stands for any characters, `?` for one.
bool glob_matches(std::string_view pattern, std::string_view name) {
  std::size_t p = 0, n = 0, star = pattern.npos, star_name = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_name = n;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
      ++p, ++n;
    } else if (star != pattern.npos) {
      p = star + 1;
      n = ++star_name;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == pattern.npos;
}

[[noreturn]] void reject_unknown_node(const OpGraph& graph, const std::string& pattern, SourcePosition at) {
  std::vector<std::string> names;
  for (const Node& node : graph.nodes) names.push_back(node.name);
  if (pattern.find_first_of("*?") != pattern.npos)
    reject(Status::plan_error, at, fmt::format("no node matches {}; the nodes are {}", quoted(pattern), listed(names)));
  if (const ValueId value = graph.find_value(pattern); value >= 0 && graph.values[value].node < 0)
    reject(Status::plan_error, at, fmt::format("{} is not a node but a leaf of the task", quoted(pattern)));
  reject(Status::plan_error, at,
         fmt::format("there is no node {}{}; the nodes are {}", quoted(pattern), did_you_mean(pattern, names),
                     listed(names)));
}

void read_pattern(TokenCursor& cursor, const OpGraph& graph, std::vector<NamedNode>& nodes) {
  const DirectiveToken first = cursor.next();
  std::string pattern(first.text);
  if (first.is(",")) reject(Status::parse_error, first.at, "nodes are separated by spaces, not by commas");
  while (!cursor.at_end() && !cursor.peek().space_before && !cursor.peek().is(":") && !cursor.peek().is(","))
    pattern += cursor.next().text;
  const std::size_t before = nodes.size();
  for (std::size_t node = 0; node < graph.nodes.size(); ++node)
    if (glob_matches(pattern, graph.nodes[node].name)) nodes.push_back({static_cast<int>(node), first.at});
  if (nodes.size() == before) reject_unknown_node(graph, pattern, first.at);
}

}  // namespace

std::vector<NamedNode> read_node_names(TokenCursor& cursor, const OpGraph& graph, std::string_view until) {
  std::vector<NamedNode> nodes;
  const auto is_last = [&] { return cursor.peek().is(":") || (!until.empty() && cursor.peek().text == until); };
  while (!cursor.at_end() && !is_last()) read_pattern(cursor, graph, nodes);
  return nodes;
}

}  // namespace cudal1
