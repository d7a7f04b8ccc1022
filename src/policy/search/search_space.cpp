#include "policy/search/search_space.hpp"

#include <algorithm>

#include "writer/rewrite_check.hpp"
#include "writer/write_program.hpp"

namespace cudal1 {
namespace {

constexpr std::size_t most_known = 24;      // rewritten graphs that are remembered
constexpr std::size_t most_rewrites = 256;  // of one proposal

}  // namespace

SearchSpace::SearchSpace(OpGraph graph) : graph_(std::move(graph)) {}

SearchSpace::Known& SearchSpace::known(const std::vector<std::string>& rewrites) {
  const auto found = std::ranges::find(known_, rewrites, &Known::rewrites);
  if (found != known_.end()) return *found;
  if (known_.size() >= most_known) known_.pop_front();
  Known& made = known_.emplace_back();
  made.rewrites = rewrites;
  Proposal only;
  only.rewrites = rewrites;
  auto written = write_program(graph_, rewrites_text(only));
  if (!written) return made;
  made.hoisted = written.value().hoisted;
  made.graph = std::move(written).value().graph;
  return made;
}

const OpGraph* SearchSpace::graph_after(const std::vector<std::string>& rewrites) {
  const Known& asked = known(rewrites);
  return asked.graph ? &*asked.graph : nullptr;
}

FusionSpace* SearchSpace::after(const std::vector<std::string>& rewrites) {
  Known& asked = known(rewrites);
  if (asked.graph && !asked.space) asked.space = std::make_unique<FusionSpace>(*asked.graph, asked.hoisted);
  return asked.space.get();
}

std::vector<std::string> SearchSpace::further_rewrites(const std::vector<std::string>& rewrites) {
  const OpGraph* graph = graph_after(rewrites);
  if (graph == nullptr || rewrites.size() >= most_rewrites) return {};
  std::vector<std::string> lines = suggested_rewrites(*graph);
  std::erase_if(lines, [&](const std::string& line) { return std::ranges::find(rewrites, line) != rewrites.end(); });
  return lines;
}

std::vector<std::string> SearchSpace::all_rewrites() {
  std::vector<std::string> taken, refused;
  for (;;) {
    auto lines = further_rewrites(taken);
    std::erase_if(lines, [&](const std::string& line) { return std::ranges::find(refused, line) != refused.end(); });
    if (lines.empty()) return taken;
    taken.push_back(lines.front());
    if (graph_after(taken) != nullptr) continue;
    refused.push_back(std::move(taken.back()));
    taken.pop_back();
  }
}

void SearchSpace::mend(Proposal& proposal) {
  FusionSpace* space = after(proposal.rewrites);
  if (space == nullptr) return;
  std::erase_if(proposal.fusions, [&](const Fusion& fusion) { return !space->technique_for(fusion.nodes); });
  std::ranges::sort(proposal.fusions, {}, [&](const Fusion& fusion) { return space->place_of(fusion); });
}

}  // namespace cudal1
