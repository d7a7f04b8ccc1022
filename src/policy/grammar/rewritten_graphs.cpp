#include "policy/grammar/rewritten_graphs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "writer/technique.hpp"
#include "writer/write_program.hpp"

namespace cudal1 {
namespace {

constexpr int most_lines = 256;  // of one technique: as many as a search writes

using TechniqueSet = std::uint32_t;  // bit i: rewrite_techniques()[i]

//! What the technique suggests and, since it may be for more nodes than it suggests, all of them.
std::vector<std::string> lines_of(const RewriteTechnique& technique, const OpGraph& graph) {
  std::vector<std::string> lines = technique.suggestions(graph);
  const TechniqueDescription& description = technique.description();
  const std::string_view form = description.form, list = "NODE…";
  if (form.starts_with(list)) lines.push_back(fmt::format("{} *{}", description.directive, form.substr(list.size())));
  return lines;
}

//! Carries out the first line that was not tried before and works; nothing: there is none.
std::optional<OpGraph> rewritten_once(const RewriteTechnique& technique, const OpGraph& graph,
                                      std::set<std::string>& tried) {
  for (const std::string& line : lines_of(technique, graph)) {
    if (!tried.insert(line).second) continue;
    auto written = write_program(graph, fmt::format("//! {}\n", line));
    if (written) return std::move(written).value().graph;
  }
  return std::nullopt;
}

//! Each technique in its turn, as long as it has something to do. `visit` sees every graph on the way.
void rewrite(OpGraph graph, TechniqueSet techniques, const std::function<void(const OpGraph&)>& visit) {
  for (std::size_t i = 0; i < rewrite_techniques().size(); ++i) {
    if ((techniques >> i & 1) == 0) continue;
    std::set<std::string> tried;
    for (int lines = 0; lines < most_lines; ++lines) {
      auto next = rewritten_once(*rewrite_techniques()[i], graph, tried);
      if (!next) break;
      graph = std::move(*next);
    }
    visit(graph);
  }
}

//! Those with something to say about the graph, or about what the others leave of it.
TechniqueSet useful_techniques(const OpGraph& graph) {
  TechniqueSet useful = 0;
  const auto look = [&](const OpGraph& seen) {
    for (std::size_t i = 0; i < rewrite_techniques().size(); ++i) {
      std::set<std::string> tried;
      if (rewritten_once(*rewrite_techniques()[i], seen, tried)) useful |= TechniqueSet{1} << i;
    }
  };
  look(graph);
  rewrite(graph, ~TechniqueSet{0}, look);
  return useful;
}

std::vector<TechniqueSet> combinations(TechniqueSet useful) {
  std::vector<TechniqueSet> sets;
  for (TechniqueSet set = useful; set != 0; set = (set - 1) & useful) sets.push_back(set);
  const int all = std::popcount(useful);
  const auto importance = [&](TechniqueSet set) {
    const int size = std::popcount(set);
    return size == all ? 0 : std::min(size, all - size);
  };
  std::ranges::stable_sort(sets, {}, importance);
  return sets;
}

}  // namespace

void for_each_rewritten_graph(const OpGraph& graph, int most_graphs, const std::function<void(const OpGraph&)>& visit) {
  visit(graph);
  for (const TechniqueSet set : combinations(useful_techniques(graph))) {
    if (--most_graphs <= 0) return;
    rewrite(graph, set, visit);
  }
}

}  // namespace cudal1
