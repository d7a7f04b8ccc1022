// The search: what it proposes can be planned, is new, and follows what was fast.
#include "policy/search/search_policy.hpp"

#include <gtest/gtest.h>

#include <map>

#include "policy/search/call_estimate.hpp"
#include "policy/search/openings.hpp"
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

//! A convolution in three dimensions, an activation, pooling.
OpGraph images(bool bias) {
  sample::GraphBuilder builder;
  const ValueId x = builder.leaf(ValueKind::input, "x", {32, 3, 18, 34, 34});
  std::vector<ValueId> reads = {x, builder.leaf(ValueKind::weight, "w", {16, 3, 3, 3, 3})};
  if (bias) reads.push_back(builder.leaf(ValueKind::weight, "b", {16}));
  const ValueId conv = builder.node("conv3d_1", "aten::conv3d", reads, {32, 16, 16, 32, 32});
  const ValueId relu = builder.node("relu_1", "aten::relu", {conv}, {32, 16, 16, 32, 32});
  builder.output(builder.node("max_pool3d_1", "aten::max_pool3d", {relu}, {32, 16, 8, 16, 16}));
  for (int i = 0; i < 2; ++i) builder.graph.nodes.back().args.emplace_back(std::vector<std::int64_t>{2, 2, 2});
  return builder.graph;
}

TEST(Openings, KeepConvolutionsApartFromWindowsOverThem) {
  SearchPolicy policy(images(false), h200(), Random(1));
  const auto proposal = proposal_from_text(policy.propose({}).value_or(""));
  ASSERT_TRUE(proposal);
  ASSERT_EQ(proposal->fusions.size(), 2u) << to_text(*proposal);
  EXPECT_EQ(proposal->fusions[0].nodes, (std::set<std::string>{"conv3d_1", "relu_1"}));
  EXPECT_EQ(proposal->fusions[1].nodes, std::set<std::string>{"max_pool3d_1"});
}

//! 3 GFLOP of a 3x3 convolution over 256 channels, which the library runs on tensor cores, and a small one.
OpGraph large_and_small_convolution() {
  sample::GraphBuilder builder;
  const ValueId x = builder.leaf(ValueKind::input, "x", {8, 256, 30, 30});
  const ValueId large = builder.leaf(ValueKind::weight, "large", {256, 256, 3, 3});
  const ValueId small = builder.leaf(ValueKind::weight, "small", {8, 256, 1, 1});
  const ValueId first = builder.node("conv2d_1", "aten::conv2d", {x, large}, {8, 256, 28, 28});
  builder.output(builder.node("conv2d_2", "aten::conv2d", {first, small}, {8, 8, 28, 28}));
  return builder.graph;
}

TEST(Openings, LeaveToTheLibraryWhatItIsBetterAt) {
  SearchSpace space(large_and_small_convolution());
  const Proposal best = opening_proposals(space, h200()).back();
  EXPECT_EQ(best.fused_nodes(), std::set<std::string>{"conv2d_2"}) << to_text(best);
}

TEST(Openings, DifferAndTryTheBestWithAndWithoutGraph) {
  const OpGraph graph = images(true);
  SearchSpace space(graph);
  const std::vector<Proposal> openings = opening_proposals(space, h200());
  std::set<std::string> texts;
  for (const Proposal& opening : openings) EXPECT_TRUE(texts.insert(to_text(opening)).second) << to_text(opening);
  ASSERT_GE(openings.size(), 3u);
  Proposal first = openings.back();
  const Proposal& second = openings[openings.size() - 2];
  EXPECT_NE(first.cuda_graph, second.cuda_graph);
  first.cuda_graph = second.cuda_graph;
  EXPECT_EQ(first, second);
}

TEST(Openings, TryTheLibraryConvolutionEarly) {
  SearchSpace space(images(false));
  const std::vector<Proposal> openings = opening_proposals(space, h200());
  ASSERT_GE(openings.size(), 3u);
  EXPECT_TRUE(openings.back().fused_nodes().contains("conv3d_1"));
  const Proposal& third = openings[openings.size() - 3];
  EXPECT_FALSE(third.fused_nodes().contains("conv3d_1")) << to_text(third);
  EXPECT_TRUE(third.fused_nodes().contains("max_pool3d_1")) << to_text(third);
}

std::vector<std::string> multiplied_in_tf32(const OpGraph& graph) {
  SearchSpace space(graph);
  std::vector<std::string> nodes;
  for (const Proposal& opening : opening_proposals(space, h200()))
    for (const Fusion& fusion : opening.fusions)
      if (const auto math = fusion.parameters.find("math"); math != fusion.parameters.end() && math->second == "tf32")
        nodes.insert(nodes.end(), fusion.nodes.begin(), fusion.nodes.end());
  return nodes;
}

OpGraph one_product(std::int64_t side) {
  sample::GraphBuilder builder;
  const ValueId x = builder.leaf(ValueKind::input, "x", {side, 4096}),
                y = builder.leaf(ValueKind::input, "y", {4096, side});
  const ValueId product = builder.node("mm_1", "aten::mm", {x, y}, {side, side});
  builder.output(builder.node("relu_1", "aten::relu", {product}, {side, side}));
  return builder.graph;
}

//! Of the first programs, on a GPU that has them.
bool tries_groups_of_warps_early(std::int64_t side, const std::string& gpu) {
  SearchPolicy policy(one_product(side), vgpu::find_profile(gpu), Random(1));
  for (int i = 0; i < 3; ++i) {
    const auto text = policy.propose({});
    const auto written = text ? write_program(one_product(side), *text) : write_program(one_product(side), "");
    if (written && written.value().text.find("Tf32x3Groups") != std::string::npos) return true;
  }
  return false;
}

TEST(Openings, MultiplyLargeProductsByGroupsOfWarps) {
  EXPECT_TRUE(tries_groups_of_warps_early(2048, "h200"));
  EXPECT_FALSE(tries_groups_of_warps_early(60, "h200"));
}

TEST(Openings, MultiplyInTwoWaysWhereTheGpuHasBoth) {
  const auto with_math = [](const char* gpu) {
    SearchSpace space(one_product(2048));
    const auto openings = opening_proposals(space, vgpu::find_profile(gpu));
    return std::ranges::count_if(openings, [](const Proposal& opening) {
      return std::ranges::any_of(opening.fusions, [](const Fusion& each) { return each.parameters.contains("math"); });
    });
  };
  EXPECT_EQ(with_math("h200"), 2);
  EXPECT_EQ(with_math("a100"), 0);
}

TEST(Openings, TryTf32OnceInLargeConvolutionsOnly) {
  const std::vector<std::string> nodes = multiplied_in_tf32(large_and_small_convolution());
  EXPECT_EQ(std::ranges::count(nodes, "conv2d_1"), 1);
  EXPECT_EQ(std::ranges::count(nodes, "conv2d_2"), 0) << "one product instead of three saves nothing there";
  EXPECT_TRUE(multiplied_in_tf32(one_product(2048)).empty()) << "PyTorch's own matrix products have fp32's accuracy";
}

//! A product, an activation, and the sums of its rows, or of its columns.
OpGraph reduced_product(std::int64_t rows, std::int64_t columns, std::int64_t depth, std::int64_t dim = 1) {
  sample::GraphBuilder builder;
  const ValueId x = builder.leaf(ValueKind::input, "x", {rows, depth}),
                w = builder.leaf(ValueKind::weight, "w", {columns, depth});
  const ValueId linear = builder.node("linear_1", "aten::linear", {x, w}, {rows, columns});
  const ValueId gelu = builder.node("gelu_1", "aten::gelu", {linear}, {rows, columns});
  builder.output(builder.node("sum_1", "aten::sum.dim_IntList", {gelu}, {dim == 1 ? rows : columns}));
  builder.graph.nodes.back().args.emplace_back(std::vector<std::int64_t>{dim});
  return builder.graph;
}

const std::set<std::string> reduced_product_nodes = {"linear_1", "gelu_1", "sum_1"};

TEST(Openings, ReduceRowsOfAProductBeforeTheyAreStored) {
  SearchSpace space(reduced_product(4096, 1024, 512));
  const Proposal best = opening_proposals(space, h200()).back();
  ASSERT_EQ(best.fusions.size(), 1u) << to_text(best);
  EXPECT_EQ(best.fusions.front().nodes, reduced_product_nodes);
  EXPECT_EQ(space.after(best.rewrites)->technique_for(reduced_product_nodes)->description().name, "matmul_rows");
}

TEST(Openings, KeepReductionsOverOtherDimensionsApartFromAProduct) {
  SearchSpace space(reduced_product(4096, 1024, 512, 0));
  for (const Proposal& opening : opening_proposals(space, h200()))
    for (const Fusion& fusion : opening.fusions)
      EXPECT_FALSE(fusion.nodes.contains("linear_1") && fusion.nodes.contains("sum_1")) << to_text(opening);
}

TEST(SearchPolicy, VariesProductsWithReducedRows) {
  const OpGraph graph = reduced_product(512, 384, 256);
  SearchPolicy policy(graph, h200(), Random(5));
  std::vector<ScoredProgram> seen;
  int with_parameters = 0;
  for (int i = 0; i < 60; ++i) {
    const auto text = policy.propose(seen);
    if (!text) break;
    EXPECT_TRUE(plan_program(graph, *text)) << *text;
    const auto proposal = proposal_from_text(*text);
    ASSERT_TRUE(proposal);
    bool is_one = false;
    for (const Fusion& fusion : proposal->fusions) {
      is_one |= fusion.nodes == reduced_product_nodes;
      with_parameters += fusion.nodes == reduced_product_nodes && !fusion.parameters.empty() ? 1 : 0;
    }
    seen.push_back({*text, is_one ? 2.0 : 1.0, 1.0});
  }
  EXPECT_GT(with_parameters, 10) << "where it is the fastest, the search tries its parameters";
}

TEST(CallEstimate, KnowsWhatReducedProductsAskOfTheGpu) {
  Proposal together, apart;
  together.fusions = {{reduced_product_nodes}};
  apart.fusions = {{{"linear_1", "gelu_1"}}, {{"sum_1"}}};
  const auto gain = [&](const OpGraph& graph) {
    return estimate_call(h200(), graph, apart).expected_ms / estimate_call(h200(), graph, together).expected_ms;
  };
  EXPECT_GT(gain(reduced_product(65536, 128, 64)), 1.2) << "what is not stored counts";
  const auto expected = [&](std::int64_t columns) {
    return estimate_call(h200(), reduced_product(64, columns, 64), together).expected_ms;
  };
  EXPECT_GT(expected(129) - expected(128), 0.8 * h200().costs.launch_us / 1e3) << "tiles of a row are combined";
}

//! w -> exp_1, which needs no input, then a product, relu_1.
TEST(Openings, LeaveHoistedNodesAlone) {
  sample::GraphBuilder builder;
  const ValueId x = builder.leaf(ValueKind::input, "x", {64, 256});
  const ValueId w = builder.leaf(ValueKind::weight, "w", {64, 256});
  const ValueId exp = builder.node("exp_1", "aten::exp", {w}, {64, 256});
  const ValueId mul = builder.node("mul_1", "aten::mul.Tensor", {x, exp}, {64, 256});
  builder.output(builder.node("relu_1", "aten::relu", {mul}, {64, 256}));
  SearchSpace space(builder.graph);
  EXPECT_EQ(space.hoisted_after({"hoist *"}), std::set<std::string>{"exp_1"});
  int hoisting = 0;
  for (const Proposal& opening : opening_proposals(space, h200())) {
    if (opening.rewrites != std::vector<std::string>{"hoist *"} || opening.branches > 1) continue;
    hoisting += opening.fusions.empty() ? 0 : 1;
    EXPECT_FALSE(opening.fused_nodes().contains("exp_1")) << to_text(opening);
    EXPECT_TRUE(plan_program(builder.graph, to_text(opening))) << to_text(opening);
  }
  EXPECT_GT(hoisting, 0);
}

//! Its time steps are launched one after another: the host is what it waits for, unless there is a graph.
TEST(CallEstimate, ExpectsAGraphToHelpRecurrentLayers) {
  sample::GraphBuilder builder;
  const ValueId x = builder.leaf(ValueKind::input, "x", {512, 1, 32}),
                h = builder.leaf(ValueKind::input, "h", {1, 1, 32});
  std::vector<ValueRef> weights;
  for (const char* name : {"w", "u"}) weights.push_back({builder.leaf(ValueKind::weight, name, {96, 32})});
  builder.output(builder.node("gru_1", "aten::gru.input", {x, h}, {512, 1, 32}));
  builder.graph.nodes.back().args.emplace_back(weights);
  Proposal graph;
  graph.cuda_graph = true;
  EXPECT_LT(estimate_call(h200(), builder.graph, graph).expected_ms,
            estimate_call(h200(), builder.graph, {}).expected_ms);
}

TEST(CallEstimate, LeavesHoistedNodesOut) {
  const OpGraph graph = busy_graph();
  EXPECT_EQ(estimate_steps(h200(), graph, {}).size(), 5u);
  EXPECT_EQ(estimate_steps(h200(), graph, {}, {"relu_1", "tanh_1"}).size(), 3u);
}

TEST(CallEstimate, KnowsThatTheLibraryAddsABiasByItself) {
  const double with = estimate_call(h200(), images(true), {}).expected_ms;
  EXPECT_GT(with, 1.05 * estimate_call(h200(), images(false), {}).expected_ms);
}

//! So many tensors side by side, normalised by row.
OpGraph joined(std::int64_t tensors, std::int64_t elements) {
  sample::GraphBuilder builder;
  std::vector<ValueRef> parts;
  for (std::int64_t i = 0; i < tensors; ++i)
    parts.push_back({builder.leaf(ValueKind::input, "x" + std::to_string(i), {elements / tensors / 64, 64})});
  const ValueId cat = builder.node("cat_1", "aten::cat", {}, {elements / 64, 64});
  builder.graph.nodes.back().args.emplace_back(parts);
  builder.output(builder.node("relu_1", "aten::relu", {cat}, {elements / 64, 64}));
  return builder.graph;
}

TEST(CallEstimate, KnowsThatTensorsThatAreJoinedInAKernelAreAllAskedFor) {
  Proposal proposal;
  proposal.fusions = {{{"cat_1", "relu_1"}}};
  const auto expected = [&](std::int64_t tensors) {
    return estimate_call(h200(), joined(tensors, std::int64_t{1} << 24), proposal).expected_ms;
  };
  EXPECT_LT(expected(2), 1.1 * expected(1));
  EXPECT_GT(expected(64), 3.0 * expected(1));
}

TEST(CallEstimate, CountsTheProductsOfTf32) {
  Proposal proposal;
  proposal.fusions = {{{"conv2d_1"}}};
  const auto estimate = [&] { return estimate_call(h200(), large_and_small_convolution(), proposal); };
  const CallEstimate accurate = estimate();
  proposal.fusions.front().parameters["math"] = "tf32";
  EXPECT_LT(estimate().expected_ms, 0.6 * accurate.expected_ms);
  EXPECT_LT(estimate().least_ms, accurate.least_ms);
}

TEST(CallEstimate, RulesNoLibraryConvolutionOut) {
  const CallEstimate library = estimate_call(h200(), images(false), {});
  const auto steps = estimate_steps(h200(), images(false), {});
  ASSERT_EQ(steps[0].nodes, "conv3d_1");
  EXPECT_LT(library.least_ms, 0.1 * steps[0].expected_ms + 0.5 * (steps[1].expected_ms + steps[2].expected_ms));
}

TEST(CallEstimate, ExpectsLittleOfConvolutionsInsideOtherWindows) {
  Proposal apart, nested;
  apart.fusions = {{{"conv3d_1", "relu_1"}}, {{"max_pool3d_1"}}};
  nested.fusions = {{{"conv3d_1", "relu_1", "max_pool3d_1"}}};
  const OpGraph graph = images(false);
  EXPECT_LT(estimate_call(h200(), graph, apart).expected_ms, estimate_call(h200(), graph, nested).expected_ms);
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
