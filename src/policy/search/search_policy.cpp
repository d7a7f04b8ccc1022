#include "policy/search/search_policy.hpp"

#include <algorithm>

#include "writer/write_program.hpp"

namespace cudal1 {
namespace {

constexpr int most_attempts = 400;   // at something new, before the search says that there is nothing
constexpr int tournament = 3;        // of so many parents the best is taken
constexpr double cross_share = 0.2;  // of variations that have two parents
constexpr int most_mutations = 3;    // at a time

void sort_fusions(Proposal& proposal) {
  std::ranges::sort(proposal.fusions, {}, [](const Fusion& fusion) { return *fusion.nodes.begin(); });
}

template <class T>
T& any_of(std::vector<T>& values, Random& random) {
  return values[random.below(values.size())];
}

}  // namespace

SearchPolicy::SearchPolicy(const OpGraph& graph, Random random) : space_(graph), random_(random) {
  if (const auto empty = plan_program(graph, "")) plans_.insert(empty.value().hash);
  add_openings();
}

//! Most promising last: everything fused and launched as one graph; then without the graph, without the fusions.
void SearchPolicy::add_openings() {
  const std::vector<Fusion> largest = space_.largest_fusions();
  std::vector<Fusion> single;
  for (const int node : space_.nodes()) single.push_back({{node}, {}});
  openings_ = {{single, false}, {single, true}, {{}, true}, {largest, false}, {largest, true}};
}

std::optional<std::string> SearchPolicy::propose(const std::vector<ScoredProgram>& seen) {
  look_at(seen);
  while (!openings_.empty()) {
    const Proposal opening = openings_.back();
    openings_.pop_back();
    if (auto text = accepted(opening)) return text;
  }
  for (int attempt = 0; attempt < most_attempts; ++attempt)
    if (auto text = accepted(variation())) return text;
  return std::nullopt;
}

void SearchPolicy::look_at(const std::vector<ScoredProgram>& seen) {
  for (; looked_at_ < seen.size(); ++looked_at_) {
    const ScoredProgram& program = seen[looked_at_];
    if (const auto plan = plan_program(space_.graph(), program.text)) plans_.insert(plan.value().hash);
    auto proposal = proposal_from_text(space_.graph(), program.text);
    if (proposal && program.reward > 0.0) parents_.push_back({std::move(*proposal), program.reward});
  }
}

std::optional<std::string> SearchPolicy::accepted(const Proposal& proposal) {
  if (proposal.is_empty()) return std::nullopt;
  std::string text = to_text(space_.graph(), proposal);
  const auto plan = plan_program(space_.graph(), text);
  if (!plan || !plans_.insert(plan.value().hash).second) return std::nullopt;
  return text;
}

const Proposal& SearchPolicy::chosen_parent() {
  const Parent* best = &any_of(parents_, random_);
  for (int i = 1; i < tournament; ++i)
    if (const Parent& other = any_of(parents_, random_); other.reward > best->reward) best = &other;
  return best->proposal;
}

Proposal SearchPolicy::variation() {
  if (parents_.empty()) return mutated({space_.largest_fusions(), random_.below(2) == 0});
  const Proposal& first = chosen_parent();
  if (random_.uniform() < cross_share) return crossed(first, chosen_parent());
  return mutated(first);
}

Proposal SearchPolicy::mutated(Proposal proposal) {
  for (std::uint64_t left = 1 + random_.below(most_mutations); left > 0; --left) {
    switch (random_.below(8)) {
      case 0:
        proposal.cuda_graph = !proposal.cuda_graph;
        break;
      case 1:
        take_node_out(proposal);
        break;
      case 2:
        join_neighbours(proposal);
        break;
      case 3:
        leave_to_library(proposal);
        break;
      case 4:
        fuse_another(proposal);
        break;
      default:
        change_parameter(proposal);
    }
  }
  sort_fusions(proposal);
  return proposal;
}

//! Fusions of both, one of the two at a time, as far as they do not want the same nodes.
Proposal SearchPolicy::crossed(const Proposal& first, const Proposal& second) {
  Proposal child;
  child.cuda_graph = (random_.below(2) == 0 ? first : second).cuda_graph;
  std::vector<const Fusion*> all;
  for (const Proposal* parent : {&first, &second})
    for (const Fusion& fusion : parent->fusions) all.push_back(&fusion);
  while (!all.empty()) {
    const std::size_t index = random_.below(all.size());
    const std::set<int> taken = fused_nodes(child);
    const bool free = std::ranges::none_of(all[index]->nodes, [&](int node) { return taken.contains(node); });
    if (free) child.fusions.push_back(*all[index]);
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(index));
  }
  sort_fusions(child);
  return child;
}

void SearchPolicy::change_parameter(Proposal& proposal) {
  if (proposal.fusions.empty()) return;
  Fusion& fusion = any_of(proposal.fusions, random_);
  const FusionTechnique* technique = space_.technique_for(fusion.nodes);
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
void SearchPolicy::take_node_out(Proposal& proposal) {
  if (proposal.fusions.empty()) return;
  Fusion& fusion = any_of(proposal.fusions, random_);
  if (fusion.nodes.size() < 2) return;
  const int node = *std::next(fusion.nodes.begin(), static_cast<std::ptrdiff_t>(random_.below(fusion.nodes.size())));
  std::set<int> rest = fusion.nodes;
  rest.erase(node);
  if (!space_.technique_for(rest)) return;
  fusion = {rest, {}};
  proposal.fusions.push_back({{node}, {}});
}

void SearchPolicy::join_neighbours(Proposal& proposal) {
  if (proposal.fusions.size() < 2) return;
  const std::size_t index = random_.below(proposal.fusions.size());
  const std::set<int> next_to = space_.neighbours(proposal.fusions[index].nodes);
  for (std::size_t other = 0; other < proposal.fusions.size(); ++other) {
    const std::set<int>& nodes = proposal.fusions[other].nodes;
    if (other == index || std::ranges::none_of(nodes, [&](int node) { return next_to.contains(node); })) continue;
    std::set<int> both = proposal.fusions[index].nodes;
    both.insert(nodes.begin(), nodes.end());
    if (!space_.technique_for(both)) continue;
    proposal.fusions[index] = {both, {}};
    proposal.fusions.erase(proposal.fusions.begin() + static_cast<std::ptrdiff_t>(other));
    return;
  }
}

void SearchPolicy::leave_to_library(Proposal& proposal) {
  if (proposal.fusions.empty()) return;
  proposal.fusions.erase(proposal.fusions.begin() +
                         static_cast<std::ptrdiff_t>(random_.below(proposal.fusions.size())));
}

void SearchPolicy::fuse_another(Proposal& proposal) {
  std::vector<int> open;
  const std::set<int> taken = fused_nodes(proposal);
  for (const int node : space_.nodes())
    if (!taken.contains(node)) open.push_back(node);
  if (!open.empty()) proposal.fusions.push_back({{any_of(open, random_)}, {}});
}

std::set<int> SearchPolicy::fused_nodes(const Proposal& proposal) const {
  std::set<int> nodes;
  for (const Fusion& fusion : proposal.fusions) nodes.insert(fusion.nodes.begin(), fusion.nodes.end());
  return nodes;
}

}  // namespace cudal1
