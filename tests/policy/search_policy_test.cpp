// The search: what it proposes can be planned, is new, and follows what was fast.
#include "policy/search/search_policy.hpp"

#include <gtest/gtest.h>

#include <map>

#include "policy/search/call_estimate.hpp"
#include "sample_graphs.hpp"
#include "writer/write_program.hpp"

namespace cudal1 {
namespace {

vgpu::GpuProfile h200() { return vgpu::find_profile("h200"); }

//! Several pointwise nodes around a softmax, so that there is much to choose from.
OpGraph busy_graph() {
  sample::GraphBuilder builder;
  const ValueId x = builder.leaf(ValueKind::input, "x", {64, 256});
  const ValueId relu = builder.node("relu_1", "aten::relu", {x}, {64, 256});
  const ValueId tanh = builder.node("tanh_1", "aten::tanh", {relu}, {64, 256});
  const ValueId sum = builder.node("add_1", "aten::add.Tensor", {tanh, x}, {64, 256});
  const ValueId exp = builder.node("exp_1", "aten::exp", {sum}, {64, 256});
  const ValueId neg = builder.node("neg_1", "aten::neg", {exp}, {64, 256});
  builder.output(neg);
  return builder.graph;
}

std::string hash_of(const OpGraph& graph, const std::string& text) {
  const auto plan = plan_program(graph, text);
  EXPECT_TRUE(plan) << text << (plan ? "" : plan.failure().message);
  return plan ? plan.value().hash : text;
}

TEST(Proposal, IsTheSameAfterItWasWrittenAndRead) {
  Proposal proposal;
  proposal.fusions = {{{"add_1", "relu_1"}, {{"vector", "4"}, {"items", "2"}}}, {{"exp_1"}}};
  proposal.cuda_graph = true;
  EXPECT_EQ(proposal_from_text(to_text(proposal)), proposal);
}

TEST(Proposal, KeepsTheBranchesOfItsGraph) {
  Proposal proposal;
  proposal.cuda_graph = true;
  proposal.branches = 4;
  EXPECT_EQ(to_text(proposal), "//! graph : branches=4\n");
  EXPECT_EQ(proposal_from_text(to_text(proposal)), proposal);
  EXPECT_FALSE(proposal_from_text("//! graph : streams=4\n"));
  EXPECT_FALSE(proposal_from_text("//! graph : branches=numel(x)\n"));
}

TEST(Proposal, CannotSayEverything) {
  EXPECT_FALSE(proposal_from_text("//! fuse relu_*\n")) << "wildcards";
  EXPECT_FALSE(proposal_from_text("__global__ void f() {}\n")) << "code";
  EXPECT_FALSE(proposal_from_text("//! buffer b f32 [4]\n"));
  EXPECT_TRUE(proposal_from_text("// a comment\n"));
}

TEST(SearchPolicy, ProposesEverythingFusedFirst) {
  SearchPolicy policy(busy_graph(), h200(), Random(1));
  const auto first = policy.propose({});
  ASSERT_TRUE(first);
  const auto proposal = proposal_from_text(*first);
  ASSERT_TRUE(proposal);
  ASSERT_EQ(proposal->fusions.size(), 1u);
  EXPECT_EQ(proposal->fusions.front().nodes.size(), 5u);
}

TEST(SearchPolicy, ProposesOnlyWhatCanBePlannedAndIsNew) {
  const OpGraph graph = busy_graph();
  SearchPolicy policy(graph, h200(), Random(7));
  std::vector<ScoredProgram> seen;
  std::set<std::string> plans{hash_of(graph, "")};
  for (int i = 0; i < 60; ++i) {
    const auto text = policy.propose(seen);
    ASSERT_TRUE(text) << i;
    EXPECT_TRUE(plans.insert(hash_of(graph, *text)).second) << "proposed before, or empty:\n" << *text;
    seen.push_back({*text, i % 4 == 0 ? 0.0 : 1.0 + 0.01 * i, 1.0});
  }
}

TEST(SearchPolicy, IsTheSameForTheSameSeed) {
  const auto proposals = [](std::uint64_t seed) {
    SearchPolicy policy(busy_graph(), h200(), Random(seed));
    std::vector<ScoredProgram> seen;
    for (int i = 0; i < 20; ++i) seen.push_back({policy.propose(seen).value_or(""), 1.0, 1.0});
    std::string all;
    for (const ScoredProgram& program : seen) all += program.text;
    return all;
  };
  EXPECT_EQ(proposals(3), proposals(3));
  EXPECT_NE(proposals(3), proposals(4));
}

TEST(SearchPolicy, DoesNotRepeatWhatIsOnRecord) {
  SearchPolicy first(busy_graph(), h200(), Random(1));
  const std::string text = *first.propose({});
  SearchPolicy second(busy_graph(), h200(), Random(1));
  EXPECT_NE(second.propose({{text, 1.0, 1.0}}), text);
}

TEST(SearchPolicy, DropsWhatCannotBeAsFastAsTheBest) {
  SearchPolicy policy(busy_graph(), h200(), Random(1));
  // Nothing is faster than this; only what the estimate takes for possible remains, which is nothing.
  EXPECT_FALSE(policy.propose({{"//! fuse relu_1\n", 100.0, 1e-9}}));
  EXPECT_GT(policy.hopeless(), 0);
}

//! So many chains of two matrix products from one input, which meet in a sum.
OpGraph chains(int count, std::int64_t size) {
  sample::GraphBuilder builder;
  const ValueId x = builder.leaf(ValueKind::input, "x", {size, size});
  const ValueId w = builder.leaf(ValueKind::weight, "w", {size, size});
  ValueId sum = x;
  for (int i = 1; i <= count; ++i) {
    const std::string number = std::to_string(i);
    const ValueId first = builder.node("mm_" + number, "aten::mm", {x, w}, {size, size});
    const ValueId second = builder.node("mm_1" + number, "aten::mm", {first, w}, {size, size});
    sum = builder.node("add_" + number, "aten::add.Tensor", {sum, second}, {size, size});
  }
  builder.output(sum);
  return builder.graph;
}

bool proposes_branches(const OpGraph& graph) {
  SearchPolicy policy(graph, h200(), Random(3));
  std::vector<ScoredProgram> seen;
  for (int i = 0; i < 60; ++i) {
    const auto text = policy.propose(seen);
    if (!text) break;
    if (text->find("branches=") != text->npos) return true;
    seen.push_back({*text, 1.0, 1.0});
  }
  return false;
}

TEST(SearchPolicy, ProposesBranchesWhereLongStepsAreIndependent) {
  EXPECT_TRUE(proposes_branches(chains(3, 384)));
  EXPECT_FALSE(proposes_branches(chains(1, 384))) << "a chain";
  EXPECT_FALSE(proposes_branches(chains(3, 4096))) << "each of these fills the GPU by itself";
  EXPECT_FALSE(proposes_branches(busy_graph()));
}

TEST(CallEstimate, FusionSavesLaunchesAndBytes) {
  const OpGraph graph = busy_graph();
  Proposal fused;
  fused.fusions = {{{"relu_1", "tanh_1", "add_1", "exp_1", "neg_1"}}};
  const CallEstimate library = estimate_call(h200(), graph, {}), one = estimate_call(h200(), graph, fused);
  EXPECT_LT(one.expected_ms, library.expected_ms);
  EXPECT_LE(one.least_ms, one.expected_ms);
  EXPECT_LE(library.least_ms, library.expected_ms);
  fused.cuda_graph = true;
  EXPECT_LE(estimate_call(h200(), graph, fused).expected_ms, one.expected_ms);
}

TEST(Population, FavoursTheFast) {
  Population population(4);
  for (int i = 0; i < 40; ++i) {
    Proposal proposal;
    proposal.fusions = {{{"node_" + std::to_string(i)}}};
    population.add(proposal, i < 20 ? 1.0 : 2.0);
  }
  Random random(5);
  int fast = 0;
  for (int i = 0; i < 400; ++i) {
    const std::string node = *population.parent(random).fusions.front().nodes.begin();
    fast += std::stoi(node.substr(5)) >= 20 ? 1 : 0;
  }
  EXPECT_GT(fast, 300) << "drawn by chance it would be about 200";
}

}  // namespace
}  // namespace cudal1
