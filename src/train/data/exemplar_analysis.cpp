#include "train/data/exemplar_analysis.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "policy/search/call_estimate.hpp"
#include "policy/search/proposal.hpp"

namespace cudal1 {
namespace {

constexpr std::size_t most_names = 3;  // of nodes in one piece

std::string nodes_text(const std::set<std::string>& nodes) {
  if (nodes.size() > most_names) return fmt::format("{} nodes with {}", nodes.size(), *nodes.begin());
  return fmt::format("{}", fmt::join(nodes, " "));
}

//! Those that usually change most come first; others, in the order of the alphabet, behind them.
std::vector<std::string> by_weight(const std::map<std::string, std::string>& parameters) {
  constexpr std::array<std::string_view, 6> heavy{"math", "tile", "lanes", "split", "items", "vector"};
  std::vector<std::string> names;
  for (const auto& [name, value] : parameters) names.push_back(name);
  std::ranges::stable_sort(names, {}, [&](const std::string& name) { return std::ranges::find(heavy, name); });
  return names;
}

std::string word_of(const std::string& line) { return line.substr(0, line.find(' ')); }

const Fusion* fusion_of(const Proposal& proposal, const std::set<std::string>& nodes) {
  const auto found = std::ranges::find(proposal.fusions, nodes, &Fusion::nodes);
  return found == proposal.fusions.end() ? nullptr : &*found;
}

//! From the coarse to the fine: a different set of nodes says more than a different number.
class Differences {
 public:
  Differences(const Proposal& program, const Proposal& other) : program_(program), other_(other) {
    add_rewrites();
    add_fusions();
    add_graph();
    add_parameters();
  }

  std::vector<std::string> pieces;

 private:
  void add(std::string piece) {
    if (std::ranges::find(pieces, piece) == pieces.end()) pieces.push_back(std::move(piece));
  }

  void add_rewrites() {
    const auto has = [](const Proposal& proposal, const std::string& line) {
      return std::ranges::find(proposal.rewrites, line) != proposal.rewrites.end();
    };
    for (const std::string& line : program_.rewrites)
      if (!has(other_, line)) add(word_of(line));
    for (const std::string& line : other_.rewrites)
      if (!has(program_, line)) add("no " + word_of(line));
  }

  void add_fusions() {
    const std::size_t before = pieces.size();
    for (const Fusion& fusion : program_.fusions)
      if (!fusion_of(other_, fusion.nodes)) add("fuse " + nodes_text(fusion.nodes));
    if (pieces.size() > before) return;  // what the other has instead follows from that
    for (const Fusion& fusion : other_.fusions)
      if (!fusion_of(program_, fusion.nodes)) add("no fuse " + nodes_text(fusion.nodes));
  }

  void add_graph() {
    if (program_.cuda_graph != other_.cuda_graph) add(program_.cuda_graph ? "graph" : "no graph");
    if (program_.branches != other_.branches) add(fmt::format("branches={}", program_.branches));
  }

  void add_parameters() {
    for (const Fusion& fusion : program_.fusions)
      if (const Fusion* same = fusion_of(other_, fusion.nodes)) add_parameters(fusion, *same);
  }

  void add_parameters(const Fusion& fusion, const Fusion& other) {
    for (const std::string& name : by_weight(fusion.parameters)) {
      const std::string& value = fusion.parameters.at(name);
      const auto found = other.parameters.find(name);
      if (found == other.parameters.end() || found->second != value) add(fmt::format("{}={}", name, value));
    }
  }

  const Proposal& program_;
  const Proposal& other_;
};

std::string trying(std::string_view program, std::string_view best) {
  const std::string differences = program_differences(program, best);
  return differences.empty() ? std::string("try it again") : "try " + differences;
}

//! As prompts show it.
std::string shown_score(const PromptExemplar& exemplar) { return fmt::format("{:.2f}", exemplar.speedup); }

std::string place_name(std::size_t place) {
  constexpr std::array<std::string_view, 4> names{"first", "second", "third", "fourth"};
  return place < names.size() ? std::string(names[place]) : fmt::format("{}th", place + 1);
}

//! The fastest of those that are not the best.
const PromptExemplar& next_best(std::span<const PromptExemplar> exemplars, std::size_t best) {
  std::size_t next = best == 0 ? 1 : 0;
  for (std::size_t i = 0; i < exemplars.size(); ++i)
    if (i != best && exemplars[i].speedup > exemplars[next].speedup) next = i;
  return exemplars[next];
}

std::string longest_node(const OpGraph& graph, const vgpu::GpuProfile& gpu) {
  const std::vector<StepEstimate> steps = estimate_steps(gpu, graph, {});
  if (steps.empty()) return {};
  return std::ranges::max_element(steps, {}, &StepEstimate::expected_ms)->nodes;
}

}  // namespace

std::string program_differences(std::string_view program, std::string_view other, std::size_t most) {
  const auto left = proposal_from_text(program), right = proposal_from_text(other);
  if (!left || !right) return {};
  std::vector<std::string> pieces = Differences(*left, *right).pieces;
  pieces.resize(std::min(pieces.size(), most));
  return fmt::format("{}", fmt::join(pieces, ", "));
}

std::string analysis_of_task(const OpGraph& graph, const vgpu::GpuProfile& gpu, std::string_view program) {
  const std::string longest = longest_node(graph, gpu);
  const std::string begin = longest.empty() ? "no program yet" : longest + " takes longest";
  return fmt::format("Analysis: {}; {}.", begin, trying(program, ""));
}

std::string analysis_of_exemplars(std::span<const PromptExemplar> exemplars, std::string_view program) {
  const auto best = std::ranges::max_element(exemplars, {}, &PromptExemplar::speedup);
  const std::string last = trying(program, best->program);
  if (exemplars.size() == 1) return fmt::format("Analysis: one program, {}; {}.", shown_score(*best), last);
  const auto place = static_cast<std::size_t>(best - exemplars.begin());
  const PromptExemplar& next = next_best(exemplars, place);
  if (shown_score(next) == shown_score(*best)) return fmt::format("Analysis: equal, {}; {}.", shown_score(*best), last);
  const std::string why = program_differences(best->program, next.program);
  return fmt::format("Analysis: the {} is best, {}{}; {}.", place_name(place), shown_score(*best),
                     why.empty() ? "" : ": " + why, last);
}

}  // namespace cudal1
