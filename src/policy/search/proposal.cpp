#include "policy/search/proposal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "program/directive_tokens.hpp"
#include "program/rejection.hpp"
#include "program/source_scan.hpp"
#include "writer/technique.hpp"

namespace cudal1 {
namespace {

std::string line_of(const Fusion& fusion) {
  std::string line = "//! fuse";
  for (const std::string& node : fusion.nodes) line += " " + node;
  if (!fusion.parameters.empty()) line += " :";
  for (const auto& [name, value] : fusion.parameters) line += fmt::format(" {}={}", name, value);
  return line + "\n";
}

//! Up to the next space.
std::string read_word(TokenCursor& cursor) {
  std::string word;
  do word += cursor.next().text;
  while (!cursor.at_end() && !cursor.peek().space_before);
  return word;
}

//! Nothing for names with wildcards: which nodes they mean depends on the graph.
std::optional<Fusion> read_fusion(TokenCursor& cursor) {
  Fusion fusion;
  while (!cursor.at_end() && cursor.peek().text != ":") {
    std::string name = read_word(cursor);
    if (name.find_first_of("*?") != name.npos) return std::nullopt;
    fusion.nodes.insert(std::move(name));
  }
  cursor.accept(":");
  while (!cursor.at_end()) {
    const std::string given = read_word(cursor);
    const std::size_t equals = given.find('=');
    if (equals == given.npos) return std::nullopt;
    fusion.parameters[given.substr(0, equals)] = given.substr(equals + 1);
  }
  return fusion;
}

bool read_graph(TokenCursor& cursor, Proposal& proposal) {
  proposal.cuda_graph = true;
  if (!cursor.accept(":")) return cursor.at_end();
  const std::string given = read_word(cursor);
  constexpr std::string_view name = "branches=";
  const std::string_view number = std::string_view(given).substr(std::min(name.size(), given.size()));
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), proposal.branches);
  return given.starts_with(name) && error == std::errc() && end == number.data() + number.size() && cursor.at_end();
}

//! As it was written: quotes count.
std::string text_of(const DirectiveText& directive) {
  std::string text;
  for (const DirectivePiece& piece : directive.pieces) text += piece.text;
  const std::size_t begin = std::min(text.size(), text.find_first_not_of(' '));
  return text.substr(begin, text.find_last_not_of(" \r") + 1 - begin);
}

//! False: no proposal can say this line.
bool add_line(Proposal& proposal, const DirectiveText& directive) {
  TokenCursor cursor(directive);
  const DirectiveToken word = cursor.next();
  if (word.text == "graph") {
    if (!read_graph(cursor, proposal)) return false;
  } else if (word.text == "fuse") {
    auto fusion = read_fusion(cursor);
    if (!fusion) return false;
    proposal.fusions.push_back(std::move(*fusion));
  } else if (rewrite_technique(word.text) != nullptr && proposal.fusions.empty()) {
    proposal.rewrites.push_back(text_of(directive));
  } else {
    return false;
  }
  return true;
}

}  // namespace

std::set<std::string> Proposal::fused_nodes() const {
  std::set<std::string> nodes;
  for (const Fusion& fusion : fusions) nodes.insert(fusion.nodes.begin(), fusion.nodes.end());
  return nodes;
}

std::string rewrites_text(const Proposal& proposal) {
  std::string text;
  for (const std::string& line : proposal.rewrites) text += fmt::format("//! {}\n", line);
  return text;
}

std::string to_text(const Proposal& proposal) {
  std::string text = rewrites_text(proposal);
  for (const Fusion& fusion : proposal.fusions) text += line_of(fusion);
  if (proposal.cuda_graph)
    text += proposal.branches > 1 ? fmt::format("//! graph : branches={}\n", proposal.branches) : "//! graph\n";
  return text;
}

std::optional<Proposal> proposal_from_text(std::string_view text) {
  try {
    const SourceScan scan = scan_source(text);
    if (!scan.tokens.empty()) return std::nullopt;
    Proposal proposal;
    for (const DirectiveText& directive : scan.directives)
      if (!add_line(proposal, directive)) return std::nullopt;
    return proposal;
  } catch (const Rejection&) {
    return std::nullopt;
  }
}

}  // namespace cudal1
