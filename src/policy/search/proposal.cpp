#include "policy/search/proposal.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "program/node_names.hpp"
#include "program/rejection.hpp"
#include "program/source_scan.hpp"

namespace cudal1 {
namespace {

std::string line_of(const OpGraph& graph, const Fusion& fusion) {
  std::string line = "//! fuse";
  for (const int node : fusion.nodes) line += " " + graph.nodes[node].name;
  if (!fusion.parameters.empty()) line += " :";
  for (const auto& [name, value] : fusion.parameters) line += fmt::format(" {}={}", name, value);
  return line + "\n";
}

Fusion read_fusion(const OpGraph& graph, TokenCursor& cursor) {
  Fusion fusion;
  for (const NamedNode& named : read_node_names(cursor, graph)) fusion.nodes.insert(named.node);
  cursor.accept(":");
  while (!cursor.at_end()) {
    const std::string name(cursor.next().text);
    cursor.expect("=", "a parameter");
    std::string value;
    do value += cursor.next().text;
    while (!cursor.at_end() && !cursor.peek().space_before);
    fusion.parameters[name] = value;
  }
  return fusion;
}

}  // namespace

std::string to_text(const OpGraph& graph, const Proposal& proposal) {
  std::string text;
  for (const Fusion& fusion : proposal.fusions) text += line_of(graph, fusion);
  if (proposal.cuda_graph) text += "//! graph\n";
  return text;
}

std::optional<Proposal> proposal_from_text(const OpGraph& graph, std::string_view text) {
  try {
    const SourceScan scan = scan_source(text);
    if (!scan.tokens.empty()) return std::nullopt;
    Proposal proposal;
    for (const DirectiveText& directive : scan.directives) {
      TokenCursor cursor(directive);
      const DirectiveToken word = cursor.next();
      if (word.text == "graph")
        proposal.cuda_graph = true;
      else if (word.text == "fuse")
        proposal.fusions.push_back(read_fusion(graph, cursor));
      else
        return std::nullopt;
    }
    return proposal;
  } catch (const Rejection&) {
    return std::nullopt;
  }
}

}  // namespace cudal1
