#include "policy/search/openings.hpp"

#include <algorithm>
#include <map>

#include "policy/search/call_estimate.hpp"

namespace cudal1 {
namespace {

constexpr std::size_t most_openings = 12;

using Names = std::set<std::string>;

//! Nodes by the technique that writes them alone.
std::map<std::string, Names> nodes_by_technique(FusionSpace& space) {
  std::map<std::string, Names> nodes;
  for (const std::string& node : space.nodes())
    nodes[space.technique_for({node})->description().name].insert(node);
  return nodes;
}

//! All nodes fused as far as it goes; the same without those of each technique in turn; each node by itself.
std::vector<std::vector<Fusion>> ways_to_fuse(FusionSpace& space) {
  const auto by_technique = nodes_by_technique(space);
  const Names all(space.nodes().begin(), space.nodes().end());
  std::vector<std::vector<Fusion>> ways = {space.largest_fusions(all)};
  for (const auto& [technique, nodes] : by_technique) {
    Names rest;
    std::ranges::set_difference(all, nodes, std::inserter(rest, rest.end()));
    ways.push_back(space.largest_fusions(rest));
  }
  std::vector<Fusion>& single = ways.emplace_back();
  for (const std::string& node : space.nodes()) single.push_back({{node}});
  return ways;
}

struct Opening {
  Proposal proposal;
  double expected_ms = 0.0;
};

void add_openings(SearchSpace& space, const vgpu::GpuProfile& gpu, const std::vector<std::string>& rewrites,
                  std::vector<Opening>& openings) {
  FusionSpace* fusions = space.after(rewrites);
  if (fusions == nullptr) return;
  for (const std::vector<Fusion>& way : ways_to_fuse(*fusions))
    for (const bool cuda_graph : {true, false}) {
      Proposal proposal{rewrites, way, cuda_graph};
      space.mend(proposal);
      openings.push_back({proposal, estimate_call(gpu, fusions->graph(), proposal).expected_ms});
    }
}

}  // namespace

std::vector<Proposal> opening_proposals(SearchSpace& space, const vgpu::GpuProfile& gpu) {
  std::vector<Opening> openings;
  const std::vector<std::string> all = space.all_rewrites();
  add_openings(space, gpu, all, openings);
  if (!all.empty()) add_openings(space, gpu, {}, openings);
  std::ranges::stable_sort(openings, {}, &Opening::expected_ms);
  if (openings.size() > most_openings) openings.resize(most_openings);
  std::vector<Proposal> made;
  for (Opening& opening : openings) made.insert(made.begin(), std::move(opening.proposal));
  return made;
}

}  // namespace cudal1
