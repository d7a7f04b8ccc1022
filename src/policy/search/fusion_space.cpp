#include "policy/search/fusion_space.hpp"

#include <algorithm>

#include "program/unit_order.hpp"
#include "writer/fusion_check.hpp"

namespace cudal1 {
namespace {

constexpr std::size_t largest_group = 64;  // nodes; a kernel of more is slow to compile and seldom faster

}  // namespace

FusionSpace::FusionSpace(const OpGraph& graph)
    : graph_(graph), readers_(readers_of_nodes(graph)), producers_(graph.nodes.size()) {
  for (std::size_t i = 0; i < readers_.size(); ++i)
    for (const int reader : readers_[i]) producers_[reader].insert(static_cast<int>(i));
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    if (!is_view_node(graph, graph.nodes[i]) && technique_for({static_cast<int>(i)}))
      fusible_.push_back(static_cast<int>(i));
}

const FusionTechnique* FusionSpace::technique_for(const std::set<int>& nodes) {
  const auto [known, fresh] = known_.emplace(nodes, nullptr);
  if (fresh) known->second = technique_that_fuses(graph_, nodes);
  return known->second;
}

std::set<int> FusionSpace::neighbours(const std::set<int>& nodes) const {
  std::set<int> found;
  for (const int node : nodes) {
    found.insert(readers_[node].begin(), readers_[node].end());
    found.insert(producers_[node].begin(), producers_[node].end());
  }
  std::erase_if(found, [&](int node) { return nodes.contains(node) || !std::ranges::binary_search(fusible_, node); });
  return found;
}

//! Groups as they grow, and which of them a node is in.
struct FusionSpace::Groups {
  std::vector<std::set<int>> nodes;
  std::map<int, std::size_t> of_node;
};

//! Takes the nodes of a neighbour in. False: there is none that fits.
bool FusionSpace::grow(Groups& groups, std::size_t index) {
  std::set<std::size_t> next_to;
  for (const int node : neighbours(groups.nodes[index])) next_to.insert(groups.of_node.at(node));
  for (const std::size_t other : next_to) {
    std::set<int> both = groups.nodes[index];
    both.insert(groups.nodes[other].begin(), groups.nodes[other].end());
    if (both.size() > largest_group || !technique_for(both)) continue;
    for (const int node : groups.nodes[other]) groups.of_node[node] = index;
    groups.nodes[other].clear();
    groups.nodes[index] = std::move(both);
    return true;
  }
  return false;
}

std::vector<Fusion> FusionSpace::largest_fusions() {
  Groups groups;
  for (const int node : fusible_) {
    groups.of_node[node] = groups.nodes.size();
    groups.nodes.push_back({node});
  }
  for (std::size_t i = 0; i < groups.nodes.size(); ++i)
    while (!groups.nodes[i].empty() && grow(groups, i)) {
    }
  std::vector<Fusion> fusions;
  for (std::set<int>& group : groups.nodes)
    if (!group.empty()) fusions.push_back({std::move(group), {}});
  return fusions;
}

}  // namespace cudal1
