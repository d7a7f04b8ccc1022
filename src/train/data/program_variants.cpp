#include "train/data/program_variants.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "policy/search/all_parameters.hpp"
#include "policy/search/branch_worth.hpp"
#include "policy/search/call_estimate.hpp"
#include "policy/search/openings.hpp"
#include "policy/search/variation.hpp"
#include "writer/write_program.hpp"

namespace cudal1 {
namespace {

constexpr std::size_t attempts_a_variant = 40;
constexpr double cross_share = 0.15, scattered_share = 0.2;  // of drafts
constexpr double graph_share = 0.5;

//! How long the reference's nodes are expected to take.
class ReplacedTime {
 public:
  ReplacedTime(const OpGraph& graph, const vgpu::GpuProfile& gpu) {
    for (const StepEstimate& step : estimate_steps(gpu, graph, {})) {
      times_ms_[step.nodes] += step.expected_ms;
      all_ms_ += step.expected_ms;
    }
  }

  double share_of(const Plan& plan) const {
    double left_ms = 0.0;
    for (const Step& step : plan.call)
      if (const auto* op = std::get_if<OpStep>(&step)) {
        const auto found = times_ms_.find(op->node.name);
        if (found != times_ms_.end()) left_ms += found->second;
      }
    return all_ms_ > 0.0 ? 1.0 - left_ms / all_ms_ : 0.0;
  }

 private:
  std::map<std::string, double> times_ms_;
  double all_ms_ = 0.0;
};

class VariantMaker {
 public:
  VariantMaker(const OpGraph& graph, const vgpu::GpuProfile& gpu, const VariantOptions& options, Random& random)
      : space_(graph),
        gpu_(gpu),
        options_(options),
        random_(random),
        variation_(space_, random_),
        openings_(opening_proposals(space_, gpu)),
        replaced_time_(graph, gpu) {
    if (const auto empty = plan_program(graph, "")) plans_.insert(empty.value().hash);
  }

  std::vector<ProgramVariant> make() {
    for (std::size_t attempt = 0; attempt < options_.count * attempts_a_variant; ++attempt) {
      if (made_.size() >= options_.count) break;
      accept(draft());
    }
    return std::move(made_);
  }

 private:
  //! Which nodes, rewrites and parameters, before all parameters are said.
  Proposal draft() {
    Proposal proposal = base();
    proposal.cuda_graph = random_.uniform() < graph_share;
    if (!proposal.cuda_graph) proposal.branches = 1;
    draw_parameters(proposal);
    return proposal;
  }

  Proposal base() {
    const double kind = random_.uniform();
    if (openings_.empty() || kind < scattered_share) return scattered();
    if (kind < scattered_share + cross_share) return variation_.crossed(opening(), opening());
    Proposal proposal = opening();
    for (std::uint64_t changes = random_.below(3); changes > 0; --changes) proposal = variation_.mutated(proposal);
    return proposal;
  }

  const Proposal& opening() { return openings_[random_.below(openings_.size())]; }

  //! Fusions as they come: some nodes by themselves, some joined with their neighbours.
  Proposal scattered() {
    Proposal proposal;
    if (!openings_.empty() && random_.below(2) == 0) proposal.rewrites = opening().rewrites;
    FusionSpace* space = space_.after(proposal.rewrites);
    if (space == nullptr) return {};
    for (const std::string& node : space->nodes()) add_node(proposal, *space, node);
    space_.mend(proposal);
    return proposal;
  }

  void add_node(Proposal& proposal, FusionSpace& space, const std::string& node) {
    if (random_.below(8) == 0) return;  // left to the library
    for (Fusion& fusion : proposal.fusions) {
      std::set<std::string> both = fusion.nodes;
      both.insert(node);
      if (random_.below(3) == 0 || !space.neighbours(fusion.nodes).contains(node) || !space.technique_for(both))
        continue;
      fusion.nodes = std::move(both);
      return;
    }
    proposal.fusions.push_back({{node}});
  }

  //! Uniformly, so that good and bad values come alike; of each fusion none, one, or as many as there are.
  void draw_parameters(Proposal& proposal) {
    const OpGraph* graph = space_.graph_after(proposal.rewrites);
    FusionSpace* space = space_.after(proposal.rewrites);
    if (space == nullptr) return;
    for (Fusion& fusion : proposal.fusions) {
      const FusionTechnique* technique = space->technique_for(fusion.nodes);
      if (technique == nullptr) continue;
      const std::vector<Parameter>& parameters = technique->description().parameters;
      const std::uint64_t draws[] = {0, 1, parameters.size()};
      for (std::uint64_t left = draws[random_.below(std::size(draws))]; left > 0; --left)
        draw_parameter(*graph, fusion, parameters[random_.below(parameters.size())]);
    }
  }

  //! One that does not go with what was chosen before is left alone.
  void draw_parameter(const OpGraph& graph, Fusion& fusion, const Parameter& parameter) {
    Fusion changed = fusion;
    changed.parameters[parameter.name] = parameter.choices[1 + random_.below(parameter.choices.size() - 1)];
    if (write_program(graph, to_text(Proposal{{}, {changed}}))) fusion = std::move(changed);
  }

  void accept(const Proposal& draft) {
    const auto proposal = with_nearest_parameters(space_.graph(), draft);
    if (!proposal || proposal->fusions.empty()) return;
    std::string text = to_text(*proposal);
    const auto plan = plan_program(space_.graph(), text);
    if (!plan || (proposal->branches > 1 && !is_worth_branches(gpu_, plan.value()))) return;
    if (replaced_time_.share_of(plan.value()) < options_.least_replaced_share) return;
    if (!plans_.insert(plan.value().hash).second) return;
    made_.push_back({std::move(text), plan.value().hash, techniques_of(*proposal)});
  }

  std::vector<std::string> techniques_of(const Proposal& proposal) {
    std::set<std::string> names;
    const auto written = write_program(space_.graph(), to_text(proposal));
    for (const AppliedTechnique& applied : written.value().techniques) names.insert(applied.technique);
    return {names.begin(), names.end()};
  }

  SearchSpace space_;
  const vgpu::GpuProfile& gpu_;
  const VariantOptions& options_;
  Random& random_;
  Variation variation_;
  std::vector<Proposal> openings_;
  ReplacedTime replaced_time_;
  std::set<std::string> plans_;  //!< hashes of those that there are
  std::vector<ProgramVariant> made_;
};

}  // namespace

std::vector<ProgramVariant> program_variants(const OpGraph& graph, const vgpu::GpuProfile& gpu,
                                             const VariantOptions& options, Random& random) {
  return VariantMaker(graph, gpu, options, random).make();
}

}  // namespace cudal1
