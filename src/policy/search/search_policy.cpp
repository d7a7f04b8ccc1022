#include "policy/search/search_policy.hpp"

#include <algorithm>

#include "policy/search/branch_worth.hpp"
#include "policy/search/call_estimate.hpp"
#include "policy/search/openings.hpp"
#include "writer/write_program.hpp"

namespace cudal1 {
namespace {

constexpr int most_attempts = 300;   // at something new, before the search says that there is nothing
constexpr double cross_share = 0.2;  // of variations that have two parents
constexpr int islands = 4;

}  // namespace

SearchPolicy::SearchPolicy(OpGraph graph, vgpu::GpuProfile gpu, Random random)
    : space_(std::move(graph)),
      gpu_(std::move(gpu)),
      random_(random),
      population_(islands),
      variation_(space_, random_),
      openings_(opening_proposals(space_, gpu_)) {
  if (const auto empty = plan_program(space_.graph(), "")) plans_.insert(empty.value().hash);
}

std::optional<std::string> SearchPolicy::propose(const std::vector<ScoredProgram>& seen) {
  look_at(seen);
  while (!openings_.empty()) {
    const Proposal opening = std::move(openings_.back());
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
    if (program.reward <= 0.0) continue;
    if (program.candidate_ms > 0.0)
      best_ms_ = best_ms_ > 0.0 ? std::min(best_ms_, program.candidate_ms) : program.candidate_ms;
    if (auto proposal = proposal_from_text(program.text)) population_.add(std::move(*proposal), program.reward);
  }
}

bool SearchPolicy::is_hopeless(const Proposal& proposal) {
  const OpGraph* graph = space_.graph_after(proposal.rewrites);
  if (graph == nullptr) return true;
  const CallEstimate estimate = estimate_call(gpu_, *graph, proposal, space_.hoisted_after(proposal.rewrites));
  // Side by side, steps that wait most of their time may take as long as the longest of them.
  return best_ms_ > 0.0 && estimate.least_ms / proposal.branches > best_ms_;
}

std::optional<std::string> SearchPolicy::accepted(const Proposal& proposal) {
  if (proposal.is_empty()) return std::nullopt;
  std::string text = to_text(proposal);
  const auto plan = plan_program(space_.graph(), text);
  if (!plan || (proposal.branches > 1 && !is_worth_branches(gpu_, plan.value()))) return std::nullopt;
  if (!plans_.insert(plan.value().hash).second) return std::nullopt;
  if (is_hopeless(proposal)) {
    ++hopeless_;
    return std::nullopt;
  }
  return text;
}

Proposal SearchPolicy::variation() {
  if (population_.is_empty()) {
    FusionSpace& plain = *space_.after({});
    return variation_.mutated({{}, plain.largest_fusions({plain.nodes().begin(), plain.nodes().end()}), true, 1});
  }
  const Proposal& parent = population_.parent(random_);
  if (random_.uniform() < cross_share) return variation_.crossed(parent, population_.partner(random_));
  return variation_.mutated(parent);
}

}  // namespace cudal1
