#include "policy/search/openings.hpp"

#include <algorithm>
#include <map>

#include "policy/search/call_estimate.hpp"
#include "writer/fused/operator_rules.hpp"
#include "writer/products/convolution_space.hpp"
#include "writer/write_program.hpp"

namespace cudal1 {
namespace {

constexpr std::size_t most_openings = 12;
constexpr std::int64_t large_side = 64;  // of a result that tiles of 128x128 suit
constexpr double large_products = 1e9;   // additions of products

using Names = std::set<std::string>;

//! Nodes by the technique that writes them alone.
std::map<std::string, Names> nodes_by_technique(FusionSpace& space) {
  std::map<std::string, Names> nodes;
  for (const std::string& node : space.nodes()) nodes[space.technique_for({node})->description().name].insert(node);
  return nodes;
}

//! Nodes that the library is not expected to be faster at.
Names worth_a_kernel(const FusionSpace& space, const vgpu::GpuProfile& gpu) {
  Names worth;
  for (const std::string& node : space.nodes())
    if (is_worth_a_kernel(gpu, space.graph(), space.graph().find_node(node))) worth.insert(node);
  return worth;
}

//! All nodes fused as far as it goes; the same with the techniques apart, say a convolution and the pooling after it;
//! that without what the library is better at; without the nodes of each technique in turn; each node by itself.
std::vector<std::vector<Fusion>> ways_to_fuse(FusionSpace& space, const vgpu::GpuProfile& gpu) {
  const auto by_technique = nodes_by_technique(space);
  const Names all(space.nodes().begin(), space.nodes().end());
  std::vector<std::vector<Fusion>> ways = {space.largest_fusions(all),
                                           space.largest_fusions(all, Mixture::one_technique),
                                           space.largest_fusions(worth_a_kernel(space, gpu), Mixture::one_technique)};
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

//! As a CUDA Graph or not, whichever is expected to be faster.
Opening launched_well(SearchSpace& space, const vgpu::GpuProfile& gpu, Proposal proposal) {
  const OpGraph& graph = *space.graph_after(proposal.rewrites);
  const std::set<std::string>& hoisted = space.hoisted_after(proposal.rewrites);
  const double plain = estimate_call(gpu, graph, proposal, hoisted).expected_ms;
  proposal.cuda_graph = true;
  const double as_graph = estimate_call(gpu, graph, proposal, hoisted).expected_ms;
  proposal.cuda_graph = as_graph < plain;
  return {std::move(proposal), std::min(plain, as_graph)};
}

void add_openings(SearchSpace& space, const vgpu::GpuProfile& gpu, const std::vector<std::string>& rewrites,
                  std::vector<Opening>& openings) {
  FusionSpace* fusions = space.after(rewrites);
  if (fusions == nullptr) return;
  for (const std::vector<Fusion>& way : ways_to_fuse(*fusions, gpu)) {
    Proposal proposal{rewrites, way, false};
    space.mend(proposal);
    openings.push_back(launched_well(space, gpu, std::move(proposal)));
  }
}

//! All rewrites; all but those of one technique, for each; none.
std::vector<std::vector<std::string>> ways_to_rewrite(const std::vector<std::string>& all) {
  const auto word = [](const std::string& line) { return line.substr(0, line.find(' ')); };
  std::vector<std::vector<std::string>> ways = {all};
  std::set<std::string> words;
  for (const std::string& line : all)
    if (words.insert(word(line)).second) {
      std::vector<std::string>& rest = ways.emplace_back();
      std::ranges::copy_if(all, std::back_inserter(rest), [&](const auto& other) { return word(other) != word(line); });
    }
  if (!all.empty()) ways.emplace_back();
  return ways;
}

//! The best of each way to rewrite comes before the second best of any: estimates know little of what rewrites do.
//! Ways that come to the same are one.
std::vector<Opening> in_turns(std::vector<std::vector<Opening>> ways) {
  std::vector<Opening> all;
  std::set<std::string> known;
  for (std::vector<Opening>& way : ways) std::ranges::stable_sort(way, {}, &Opening::expected_ms);
  for (std::size_t turn = 0; all.size() < most_openings; ++turn) {
    std::vector<Opening> now;
    for (std::vector<Opening>& way : ways)
      if (turn < way.size()) now.push_back(way[turn]);
    if (now.empty()) break;
    std::ranges::stable_sort(now, {}, &Opening::expected_ms);
    std::ranges::copy_if(now, std::back_inserter(all),
                         [&](const Opening& opening) { return known.insert(to_text(opening.proposal)).second; });
  }
  return all;
}

//! The most promising graph with branches comes after the first few. Whether they are worth it shows when it is
//! planned.
void add_branches(std::vector<Proposal>& made) {
  constexpr std::size_t first_few = 3;
  const auto graph = std::find_if(made.rbegin(), made.rend(), [](const Proposal& each) { return each.cuda_graph; });
  if (graph == made.rend()) return;
  std::vector<Proposal> branched(2, *graph);
  branched[0].branches = 4;
  branched[1].branches = 2;
  made.insert(made.end() - static_cast<std::ptrdiff_t>(std::min(first_few, made.size())), branched.begin(),
              branched.end());
}

//! The one that is expected to be the fastest of those that are wanted: `is_wanted(proposal, its graph)`.
template <class IsWanted>
std::optional<Proposal> best_where(SearchSpace& space, const std::vector<std::vector<Opening>>& ways,
                                   const IsWanted& is_wanted) {
  const Opening* best = nullptr;
  for (const std::vector<Opening>& way : ways)
    for (const Opening& opening : way)
      if ((best == nullptr || opening.expected_ms < best->expected_ms) &&
          is_wanted(opening.proposal, *space.graph_after(opening.proposal.rewrites)))
        best = &opening;
  return best == nullptr ? std::nullopt : std::optional(best->proposal);
}

bool is_convolution_named(const OpGraph& graph, const std::string& name) {
  return is_direct_convolution(graph.nodes[static_cast<std::size_t>(graph.find_node(name))]);
}

//! The best that leaves all convolutions to the library. Nothing: there are none that it does not leave.
std::optional<Proposal> with_library_convolutions(SearchSpace& space, const std::vector<std::vector<Opening>>& ways) {
  return best_where(space, ways, [](const Proposal& proposal, const OpGraph& graph) {
    return std::ranges::none_of(proposal.fused_nodes(),
                                [&](const std::string& node) { return is_convolution_named(graph, node); });
  });
}

//! A product whose multiplications take long enough for another way to multiply to count.
bool is_large_product(const OpGraph& graph, const std::string& name) {
  const Node& node = graph.nodes[static_cast<std::size_t>(graph.find_node(name))];
  std::int64_t rows = 0, columns = 0, depth = 0, groups = 1;
  if (const auto convolution = read_convolution(graph, node); convolution && is_product_of_windows(graph, node)) {
    const TensorMeta &value = graph.values[convolution->value].meta, &weight = graph.values[convolution->weight].meta;
    rows = value.sizes[1], columns = value.numel() / rows, depth = weight.numel() / rows;
    groups = convolution->groups;
  } else if (const auto product = is_product(node) ? read_product(graph, node) : std::nullopt) {
    const ProductSizes sizes = sizes_of(graph, *product);
    rows = sizes.batches * sizes.rows, columns = sizes.columns, depth = sizes.depth;
  }
  return std::min(rows / groups, columns) >= large_side &&
         static_cast<double>(rows) * static_cast<double>(columns) * static_cast<double>(depth) >= large_products;
}

//! The same with its large products by another math; as it was where there are none.
Proposal multiplied_by(SearchSpace& space, const char* math, Proposal proposal) {
  const OpGraph& graph = *space.graph_after(proposal.rewrites);
  for (Fusion& fusion : proposal.fusions) {
    if (std::ranges::none_of(fusion.nodes, [&](const auto& node) { return is_large_product(graph, node); })) continue;
    Fusion changed = fusion;
    changed.parameters["math"] = math;
    if (plan_program(space.graph(), to_text(Proposal{proposal.rewrites, {changed}}))) fusion = std::move(changed);
  }
  return proposal;
}

//! What a technique chooses by itself is among these: a search does not try the same plan again.
std::vector<Proposal> multiplied_otherwise(SearchSpace& space, const vgpu::GpuProfile& gpu, const Proposal& proposal) {
  if (gpu.compute_capability != "9.0") return {};
  std::vector<Proposal> ways;
  for (const char* math : {"wgmma", "tf32x3"})
    if (Proposal way = multiplied_by(space, math, proposal); way != proposal) ways.push_back(std::move(way));
  return ways;
}

bool has_large_convolution(const Proposal& proposal, const OpGraph& graph) {
  return std::ranges::any_of(proposal.fused_nodes(), [&](const std::string& node) {
    return is_convolution_named(graph, node) && is_large_product(graph, node);
  });
}

//! The best that computes large convolutions by kernels of our own, in one product a multiplication, as PyTorch allows
//! its own. Where the library does not make use of that, the judge will not have it, so one opening has it.
std::optional<Proposal> with_convolutions_in_tf32(SearchSpace& space, const vgpu::GpuProfile& gpu,
                                                  const std::vector<std::vector<Opening>>& ways) {
  const std::optional<Proposal> best = best_where(space, ways, has_large_convolution);
  if (!best) return std::nullopt;
  Proposal proposal = multiplied_by(space, "tf32", *best);
  if (proposal == *best) return std::nullopt;
  return launched_well(space, gpu, std::move(proposal)).proposal;
}

//! What a launch costs is known least well where there are few of them.
Proposal launched_otherwise(Proposal proposal) {
  proposal.cuda_graph = !proposal.cuda_graph;
  return proposal;
}

}  // namespace

std::vector<Proposal> opening_proposals(SearchSpace& space, const vgpu::GpuProfile& gpu) {
  std::vector<std::vector<Opening>> ways;
  for (const std::vector<std::string>& rewrites : ways_to_rewrite(space.all_rewrites()))
    add_openings(space, gpu, rewrites, ways.emplace_back());
  // Estimates know little of what the library makes of convolutions, so this must not come too late.
  const std::optional<Proposal> library = with_library_convolutions(space, ways);
  const std::optional<Proposal> in_tf32 = with_convolutions_in_tf32(space, gpu, ways);
  std::vector<Proposal> made;
  for (Opening& opening : in_turns(std::move(ways))) {
    if (std::ranges::find(made, opening.proposal) == made.end()) made.push_back(std::move(opening.proposal));
    if (made.size() > 1) continue;
    for (Proposal& way : multiplied_otherwise(space, gpu, made.front())) made.push_back(std::move(way));
    made.push_back(launched_otherwise(made.front()));
    for (const auto& way : {library, in_tf32})
      if (way && std::ranges::find(made, *way) == made.end()) made.push_back(*way);
  }
  std::ranges::reverse(made);
  add_branches(made);
  return made;
}

}  // namespace cudal1
