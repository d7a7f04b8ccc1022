#include "policy/search/fusion_space.hpp"

#include <algorithm>
#include <ranges>

#include "program/unit_order.hpp"
#include "writer/fused/operator_rules.hpp"
#include "writer/fusion_check.hpp"

namespace cudal1 {
namespace {

constexpr std::size_t largest_group = 64;      // nodes; a kernel of more is slow to compile and seldom faster
constexpr std::int64_t small_result = 64;      // elements; such a kernel is all launch
constexpr std::ptrdiff_t most_gatherings = 2;  // of small nodes that a further one is tried with

}  // namespace

FusionSpace::FusionSpace(OpGraph graph, const std::set<std::string>& hoisted)
    : graph_(std::move(graph)), readers_(readers_of_nodes(graph_)), producers_(graph_.nodes.size()) {
  for (std::size_t i = 0; i < readers_.size(); ++i)
    for (const int reader : readers_[i]) producers_[reader].insert(static_cast<int>(i));
  for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
    if (is_view_node(graph_, graph_.nodes[i]) || hoisted.contains(graph_.nodes[i].name)) continue;
    if (!technique({static_cast<int>(i)})) continue;
    fusible_.push_back(static_cast<int>(i));
    names_.push_back(graph_.nodes[i].name);
  }
}

const FusionTechnique* FusionSpace::technique(const Nodes& nodes) {
  const auto [known, fresh] = known_.emplace(nodes, nullptr);
  if (fresh) known->second = technique_that_fuses(graph_, nodes);
  return known->second;
}

const FusionTechnique* FusionSpace::technique_for(const std::set<std::string>& nodes) {
  const Nodes found = numbers(nodes);
  return found.size() == nodes.size() && !found.empty() ? technique(found) : nullptr;
}

FusionSpace::Nodes FusionSpace::numbers(const std::set<std::string>& names) const {
  Nodes found;
  for (const std::string& name : names)
    if (const int node = graph_.find_node(name); node >= 0) found.insert(node);
  return found;
}

std::set<std::string> FusionSpace::names(const Nodes& nodes) const {
  std::set<std::string> found;
  for (const int node : nodes) found.insert(graph_.nodes[node].name);
  return found;
}

FusionSpace::Nodes FusionSpace::next_to(const Nodes& nodes) const {
  Nodes found;
  for (const int node : nodes) {
    found.insert(readers_[node].begin(), readers_[node].end());
    found.insert(producers_[node].begin(), producers_[node].end());
  }
  std::erase_if(found, [&](int node) { return nodes.contains(node) || !std::ranges::binary_search(fusible_, node); });
  return found;
}

std::set<std::string> FusionSpace::neighbours(const std::set<std::string>& nodes) const {
  return names(next_to(numbers(nodes)));
}

int FusionSpace::place_of(const Fusion& fusion) const {
  const Nodes nodes = numbers(fusion.nodes);
  return nodes.empty() ? -1 : *nodes.begin();
}

//! Groups as they grow, and which of them a node is in.
struct FusionSpace::Groups {
  std::vector<Nodes> nodes;
  std::map<int, std::size_t> of_node;
  Mixture mixture = Mixture::anything;
};

//! Nodes that different techniques write when they are alone, pointwise ones aside.
bool FusionSpace::is_mixed(const Nodes& nodes) {
  std::set<const FusionTechnique*> techniques;
  for (const int node : nodes)
    if (!is_pointwise(graph_.nodes[node])) techniques.insert(technique({node}));
  return techniques.size() > 1;
}

//! Takes the nodes of another group in. False: they do not fit together.
bool FusionSpace::join(Groups& groups, std::size_t index, std::size_t other) {
  Nodes both = groups.nodes[index];
  both.insert(groups.nodes[other].begin(), groups.nodes[other].end());
  if (groups.mixture == Mixture::one_technique && is_mixed(both)) return false;
  if (both.size() > largest_group || !technique(both)) return false;
  for (const int node : groups.nodes[other]) groups.of_node[node] = index;
  groups.nodes[other].clear();
  groups.nodes[index] = std::move(both);
  return true;
}

//! Takes the nodes of a neighbour in. False: there is none that fits.
bool FusionSpace::grow(Groups& groups, std::size_t index) {
  std::set<std::size_t> beside;
  for (const int node : next_to(groups.nodes[index]))
    if (const auto group = groups.of_node.find(node); group != groups.of_node.end()) beside.insert(group->second);
  return std::ranges::any_of(beside, [&](std::size_t other) { return join(groups, index, other); });
}

bool FusionSpace::is_small(const Nodes& nodes) const {
  const auto few = [&](ValueId value) { return graph_.values[value].meta.numel() <= small_result; };
  return std::ranges::all_of(nodes, [&](int node) {
    return std::ranges::all_of(OpGraph::reads(graph_.nodes[node]), few) &&
           std::ranges::all_of(graph_.nodes[node].outputs, few);
  });
}

//! Small nodes that have nothing to do with each other, counters of normalisations for example: one launch for many.
void FusionSpace::gather_small(Groups& groups) {
  std::vector<std::size_t> gathered;
  for (std::size_t i = 0; i < groups.nodes.size(); ++i) {
    if (groups.nodes[i].empty() || !is_small(groups.nodes[i])) continue;
    const auto latest = gathered | std::views::reverse | std::views::take(most_gatherings);
    if (std::ranges::none_of(latest, [&](std::size_t other) { return join(groups, other, i); })) gathered.push_back(i);
  }
}

std::vector<Fusion> FusionSpace::largest_fusions(const std::set<std::string>& of, Mixture mixture) {
  Groups groups;
  groups.mixture = mixture;
  for (const int node : numbers(of)) {
    groups.of_node[node] = groups.nodes.size();
    groups.nodes.push_back({node});
  }
  for (std::size_t i = 0; i < groups.nodes.size(); ++i)
    while (!groups.nodes[i].empty() && grow(groups, i)) {
    }
  gather_small(groups);
  std::vector<Fusion> fusions;
  for (const Nodes& group : groups.nodes)
    if (!group.empty()) fusions.push_back({names(group)});
  return fusions;
}

}  // namespace cudal1
