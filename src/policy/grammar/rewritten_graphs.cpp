#include "policy/grammar/rewritten_graphs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <iterator>
#include <set>
#include <string>

#include "writer/technique.hpp"
#include "writer/write_program.hpp"

namespace cudal1 {
namespace {

constexpr int most_rounds = 16;  // what a technique does may let it do more

using TechniqueSet = std::uint32_t;  // bit i: rewrite_techniques()[i]

//! What the technique suggests and, since it may be for more nodes than it suggests, all of them.
std::vector<std::string> lines_of(const RewriteTechnique& technique, const OpGraph& graph) {
  std::vector<std::string> lines = technique.suggestions(graph);
  const TechniqueDescription& description = technique.description();
  const std::string_view form = description.form, list = "NODE…";
  if (form.starts_with(list)) lines.push_back(fmt::format("{} *{}", description.directive, form.substr(list.size())));
  return lines;
}

//! Carries out those of the lines that the graph allows, in their order. False: none.
bool carry_out(std::vector<std::string> lines, RewrittenGraph& rewritten) {
  while (!lines.empty()) {
    auto written = write_program(rewritten.graph, fmt::format("//! {}\n", fmt::join(lines, "\n//! ")));
    if (written) {
      rewritten.hoisted.merge(written.value().hoisted);
      rewritten.graph = std::move(written).value().graph;
      return true;
    }
    const auto refused = std::clamp<std::ptrdiff_t>(written.failure().at.line, 1, std::ssize(lines)) - 1;
    lines.erase(lines.begin() + refused);
  }
  return false;
}

//! As long as the technique has something to do that it was not asked for before. False: it never had.
bool apply(const RewriteTechnique& technique, RewrittenGraph& rewritten) {
  std::set<std::string> asked;
  bool did_any = false;
  for (int round = 0; round < most_rounds; ++round) {
    std::vector<std::string> lines = lines_of(technique, rewritten.graph);
    std::erase_if(lines, [&](const std::string& line) { return !asked.insert(line).second; });
    if (!carry_out(std::move(lines), rewritten)) break;
    did_any = true;
  }
  return did_any;
}

//! Each technique in its turn. `visit` sees every graph on the way. Gives those that had something to do.
TechniqueSet rewrite(const OpGraph& graph, TechniqueSet techniques, const GraphVisitor& visit) {
  RewrittenGraph rewritten{graph, {}};
  TechniqueSet useful = 0;
  for (std::size_t i = 0; i < rewrite_techniques().size(); ++i) {
    const TechniqueSet bit = TechniqueSet{1} << i;
    if ((techniques & bit) == 0 || !apply(*rewrite_techniques()[i], rewritten)) continue;
    useful |= bit;
    visit(rewritten);
  }
  return useful;
}

//! Those with something to do in the graph, or in what the others leave of it.
TechniqueSet useful_techniques(const OpGraph& graph, const GraphVisitor& visit) {
  TechniqueSet useful = rewrite(graph, ~TechniqueSet{0}, visit);
  for (std::size_t i = 0; i < rewrite_techniques().size(); ++i) useful |= rewrite(graph, TechniqueSet{1} << i, visit);
  return useful;
}

//! Of two techniques or more, and not of all; nearly all and few come first.
std::vector<TechniqueSet> combinations(TechniqueSet useful) {
  std::vector<TechniqueSet> sets;
  for (TechniqueSet set = useful; set != 0; set = (set - 1) & useful)
    if (set != useful && std::popcount(set) > 1) sets.push_back(set);
  std::ranges::stable_sort(
      sets, {}, [&](TechniqueSet set) { return std::min(std::popcount(set), std::popcount(useful & ~set)); });
  return sets;
}

}  // namespace

void for_each_rewritten_graph(const OpGraph& graph, int most_combinations, const GraphVisitor& visit) {
  visit({graph, {}});
  for (const TechniqueSet set : combinations(useful_techniques(graph, visit))) {
    if (--most_combinations < 0) return;
    rewrite(graph, set, visit);
  }
}

}  // namespace cudal1
