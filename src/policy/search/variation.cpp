#include "policy/search/variation.hpp"

#include <algorithm>

namespace cudal1 {
namespace {

constexpr int most_changes = 3;  // at a time

template <class T>
T& any_of(std::vector<T>& values, Random& random) {
  return values[random.below(values.size())];
}

template <class T>
T take_any(std::vector<T>& values, Random& random) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(random.below(values.size()));
  T taken = std::move(*at);
  values.erase(at);
  return taken;
}

}  // namespace

Proposal Variation::mutated(Proposal proposal) {
  for (std::uint64_t left = 1 + random_.below(most_changes); left > 0; --left) change_once(proposal);
  space_.mend(proposal);
  return proposal;
}

void Variation::change_once(Proposal& proposal) {
  using Change = void (Variation::*)(Proposal&);
  // Parameters are the many small steps, so they come more often.
  constexpr Change changes[] = {&Variation::change_parameter, &Variation::change_parameter,
                                &Variation::change_parameter, &Variation::take_node_out,
                                &Variation::join_neighbours,  &Variation::leave_to_library,
                                &Variation::fuse_another,     &Variation::rewrite_more,
                                &Variation::rewrite_less,     &Variation::change_graph};
  (this->*changes[random_.below(std::size(changes))])(proposal);
}

//! With or without; where it stays, with another number of branches.
void Variation::change_graph(Proposal& proposal) {
  constexpr int numbers[] = {1, 2, 4};
  const int before = proposal.branches;
  proposal.branches = proposal.cuda_graph ? numbers[random_.below(std::size(numbers))] : 1;
  if (proposal.branches == before) proposal.cuda_graph = !proposal.cuda_graph;
  if (!proposal.cuda_graph) proposal.branches = 1;
}

Proposal Variation::crossed(const Proposal& first, const Proposal& second) {
  Proposal child;
  child.rewrites = (random_.below(2) == 0 ? first : second).rewrites;
  const Proposal& launched = random_.below(2) == 0 ? first : second;
  child.cuda_graph = launched.cuda_graph;
  child.branches = launched.branches;
  std::vector<Fusion> all = first.fusions;
  all.insert(all.end(), second.fusions.begin(), second.fusions.end());
  std::set<std::string> taken;
  while (!all.empty()) {
    Fusion fusion = take_any(all, random_);
    if (std::ranges::any_of(fusion.nodes, [&](const std::string& node) { return taken.contains(node); })) continue;
    taken.insert(fusion.nodes.begin(), fusion.nodes.end());
    child.fusions.push_back(std::move(fusion));
  }
  space_.mend(child);
  return child;
}

void Variation::change_parameter(Proposal& proposal) {
  FusionSpace* space = space_.after(proposal.rewrites);
  if (space == nullptr || proposal.fusions.empty()) return;
  Fusion& fusion = any_of(proposal.fusions, random_);
  const FusionTechnique* technique = space->technique_for(fusion.nodes);
  if (technique == nullptr || technique->description().parameters.empty()) return;
  const auto& parameters = technique->description().parameters;
  const Parameter& parameter = parameters[random_.below(parameters.size())];
  const std::size_t choice = random_.below(parameter.choices.size());
  if (choice == 0)
    fusion.parameters.erase(parameter.name);
  else
    fusion.parameters[parameter.name] = parameter.choices[choice];
}

//! The node becomes a kernel of its own.
void Variation::take_node_out(Proposal& proposal) {
  FusionSpace* space = space_.after(proposal.rewrites);
  if (space == nullptr || proposal.fusions.empty()) return;
  Fusion& fusion = any_of(proposal.fusions, random_);
  if (fusion.nodes.size() < 2) return;
  const std::string node =
      *std::next(fusion.nodes.begin(), static_cast<std::ptrdiff_t>(random_.below(fusion.nodes.size())));
  std::set<std::string> rest = fusion.nodes;
  rest.erase(node);
  if (!space->technique_for(rest)) return;
  fusion = {rest};
  proposal.fusions.push_back({{node}});
}

void Variation::join_neighbours(Proposal& proposal) {
  FusionSpace* space = space_.after(proposal.rewrites);
  if (space == nullptr || proposal.fusions.size() < 2) return;
  const std::size_t index = random_.below(proposal.fusions.size());
  const std::set<std::string> beside = space->neighbours(proposal.fusions[index].nodes);
  for (std::size_t other = 0; other < proposal.fusions.size(); ++other) {
    const std::set<std::string>& nodes = proposal.fusions[other].nodes;
    if (other == index || std::ranges::none_of(nodes, [&](const auto& node) { return beside.contains(node); }))
      continue;
    std::set<std::string> both = proposal.fusions[index].nodes;
    both.insert(nodes.begin(), nodes.end());
    if (!space->technique_for(both)) continue;
    proposal.fusions[index] = {both};
    proposal.fusions.erase(proposal.fusions.begin() + static_cast<std::ptrdiff_t>(other));
    return;
  }
}

void Variation::leave_to_library(Proposal& proposal) {
  if (!proposal.fusions.empty()) take_any(proposal.fusions, random_);
}

//! A node that the library runs so far joins a fusion beside it where it can, else it becomes a kernel of its own.
void Variation::fuse_another(Proposal& proposal) {
  FusionSpace* space = space_.after(proposal.rewrites);
  if (space == nullptr) return;
  std::vector<std::string> open;
  const std::set<std::string> taken = proposal.fused_nodes();
  std::ranges::copy_if(space->nodes(), std::back_inserter(open),
                       [&](const auto& node) { return !taken.contains(node); });
  if (open.empty()) return;
  const std::string node = any_of(open, random_);
  for (Fusion& fusion : proposal.fusions) {
    std::set<std::string> both = fusion.nodes;
    both.insert(node);
    if (!space->neighbours({node}).empty() && space->technique_for(both)) {
      fusion = {both};
      return;
    }
  }
  proposal.fusions.push_back({{node}});
}

void Variation::rewrite_more(Proposal& proposal) {
  std::vector<std::string> lines = space_.further_rewrites(proposal.rewrites);
  if (lines.empty()) return;
  proposal.rewrites.push_back(any_of(lines, random_));
  if (space_.graph_after(proposal.rewrites) == nullptr) proposal.rewrites.pop_back();
  space_.mend(proposal);
}

//! What was fused with nodes that only the rewrite made is fused anew as far as it goes.
void Variation::rewrite_less(Proposal& proposal) {
  if (proposal.rewrites.empty()) return;
  Proposal changed = proposal;
  take_any(changed.rewrites, random_);
  FusionSpace* space = space_.after(changed.rewrites);
  if (space == nullptr) return;
  std::set<std::string> left = proposal.fused_nodes();
  space_.mend(changed);
  for (const std::string& node : changed.fused_nodes()) left.erase(node);
  std::erase_if(
      left, [&](const std::string& node) { return std::ranges::find(space->nodes(), node) == space->nodes().end(); });
  for (Fusion& fusion : space->largest_fusions(left)) changed.fusions.push_back(std::move(fusion));
  proposal = std::move(changed);
}

}  // namespace cudal1
