#include "judge/reduction_length.hpp"

#include <gtest/gtest.h>

namespace cudal1 {
namespace {

OpGraph graph_with(const std::string& op, const std::vector<std::vector<std::int64_t>>& inputs,
                   const std::vector<std::int64_t>& output) {
  OpGraph graph;
  Node node{"node_1", op, {}, {}, {}, {}};
  const auto add = [&graph](ValueKind kind, const std::vector<std::int64_t>& sizes) {
    Value value;
    value.kind = kind;
    value.meta = {DType::f32, sizes, contiguous_strides(sizes)};
    graph.values.push_back(value);
    return static_cast<ValueId>(graph.values.size()) - 1;
  };
  for (const auto& sizes : inputs) node.args.emplace_back(ValueRef{add(ValueKind::input, sizes)});
  node.outputs = {add(ValueKind::node_output, output)};
  graph.nodes.push_back(node);
  return graph;
}

std::int64_t terms_of_node(const OpGraph& graph) { return terms_of(graph, graph.nodes[0]); }

TEST(TermsOfANode, CountsTheTermsOfEachSum) {
  EXPECT_EQ(terms_of_node(graph_with("aten::mm", {{8, 512}, {512, 4}}, {8, 4})), 512);
  EXPECT_EQ(terms_of_node(graph_with("aten::addmm", {{4}, {8, 300}, {300, 4}}, {8, 4})), 300);
  EXPECT_EQ(terms_of_node(graph_with("aten::conv2d", {{1, 3, 9, 9}, {6, 3, 5, 5}}, {1, 6, 5, 5})), 75);
  EXPECT_EQ(terms_of_node(graph_with("aten::softmax.int", {{16, 1024}}, {16, 1024})), 1024);
  EXPECT_EQ(terms_of_node(graph_with("aten::layer_norm", {{16, 768}}, {16, 768})), 768);
  EXPECT_EQ(terms_of_node(graph_with("aten::sum.dim_IntList", {{16, 100}}, {16})), 100);
  EXPECT_EQ(terms_of_node(graph_with("aten::relu", {{16, 100}}, {16, 100})), 1);
}

//! A graph of one node whose further arguments follow its tensors.
OpGraph graph_with(const std::string& op, const std::vector<std::vector<std::int64_t>>& inputs,
                   const std::vector<std::int64_t>& output, const std::vector<Argument>& further) {
  OpGraph graph = graph_with(op, inputs, output);
  graph.nodes[0].args.insert(graph.nodes[0].args.end(), further.begin(), further.end());
  return graph;
}

TEST(TermsOfANode, ReadsTheDimensionThatIsSummedOver) {
  const std::int64_t last = -1, first = 0;
  EXPECT_EQ(terms_of_node(graph_with("aten::softmax.int", {{4096, 16}}, {4096, 16}, {last})), 16);
  EXPECT_EQ(terms_of_node(graph_with("aten::cumsum", {{300, 16}}, {300, 16}, {first})), 300);
  EXPECT_EQ(terms_of_node(graph_with("aten::scaled_dot_product_attention",
                                     {{99, 2, 8, 64}, {99, 2, 80, 64}, {99, 2, 80, 64}}, {99, 2, 8, 64})),
            80);
}

TEST(TermsOfANode, KnowsThatCrossEntropySumsTwice) {
  EXPECT_EQ(terms_of_node(graph_with("aten::cross_entropy_loss", {{256, 1000}, {256}}, {})), 1000);
  EXPECT_EQ(terms_of_node(graph_with("aten::cross_entropy_loss", {{4096, 10}, {4096}}, {})), 4096);
  EXPECT_EQ(terms_of_node(graph_with("aten::nll_loss", {{256, 1000}, {256}}, {})), 256);
}

TEST(TermsOfANode, CountsAllDimensionsOfANorm) {
  const std::vector<std::int64_t> shape{8, 10, 10};
  EXPECT_EQ(terms_of_node(graph_with("aten::layer_norm", {{4, 8, 10, 10}}, {4, 8, 10, 10}, {shape})), 800);
  EXPECT_EQ(terms_of_node(graph_with("aten::group_norm", {{4, 8, 10, 10}}, {4, 8, 10, 10}, {std::int64_t{2}})), 400);
  EXPECT_EQ(terms_of_node(graph_with("aten::batch_norm", {{4, 8, 10, 10}}, {4, 8, 10, 10})), 400);
  EXPECT_EQ(terms_of_node(graph_with("aten::linalg_vector_norm", {{16, 5000}}, {16})), 5000);
}

TEST(TermsOfANode, FollowsTheLettersOfAnEinsum) {
  OpGraph graph = graph_with("aten::einsum", {{2, 8, 30}, {2, 30, 40}}, {2, 8});
  const ValueList operands{{0}, {1}};
  graph.nodes[0].args = {std::string("bij, bjk -> bi"), operands};
  EXPECT_EQ(terms_of_node(graph), 30 * 40);
}

TEST(TermsOfANode, DoesNotCountWhatIsOnlyPicked) {
  EXPECT_EQ(terms_of_node(graph_with("aten::amax", {{16, 1000}}, {16})), 1);
  EXPECT_EQ(terms_of_node(graph_with("aten::embedding", {{50000, 8}, {4}}, {4, 8})), 1);
  OpGraph graph = graph_with("aten::narrow", {{16, 1000}}, {16, 1});
  graph.values[1].view = ViewOf{0, 0};
  EXPECT_EQ(terms_of_node(graph), 1);
}

TEST(TermsOfANode, KnowsContractionsOfOtherNames) {
  EXPECT_EQ(terms_of_node(graph_with("aten::inner", {{32, 4096}, {32, 4096}}, {32, 32})), 4096);
  EXPECT_EQ(terms_of_node(graph_with("aten::cdist", {{32, 128}, {16, 128}}, {32, 16})), 128);
  EXPECT_EQ(terms_of_node(graph_with("aten::bilinear", {{8, 64}, {8, 32}, {4, 64, 32}}, {8, 4})), 64 * 32);
  EXPECT_EQ(terms_of_node(graph_with("aten::addbmm", {{8, 4}, {5, 8, 100}, {5, 100, 4}}, {8, 4})), 500);
  const std::vector<std::int64_t> last{-1}, first{0};
  EXPECT_EQ(terms_of_node(graph_with("aten::tensordot", {{64, 64}, {64, 64}}, {64, 64}, {last, first})), 64);
  OpGraph chain = graph_with("aten::linalg_multi_dot", {{2, 300}, {300, 40}, {40, 5}}, {2, 5});
  chain.nodes[0].args = {ValueList{{0}, {1}, {2}}};
  EXPECT_EQ(terms_of_node(chain), 300);
}

TEST(TermsOfANode, GuessesThoseOfAContractionThatNobodyHasDescribed) {
  EXPECT_EQ(terms_of_node(graph_with("aten::some_product", {{8, 512}, {512, 4}}, {8, 4})), 512);
  EXPECT_EQ(terms_of_node(graph_with("aten::some_function", {{16, 100}, {100}}, {16, 100})), 1);
  EXPECT_EQ(terms_of_node(graph_with("aten::some_similarity", {{16, 100}, {16, 100}}, {16})), 100);
}

TEST(TermsOfANode, CountsAdditionsToIndexedPlaces) {
  OpGraph graph = graph_with("aten::index_add", {{8, 4}, {500}, {500, 4}}, {8, 4});
  graph.nodes[0].args = {ValueRef{0}, std::int64_t{0}, ValueRef{1}, ValueRef{2}};
  EXPECT_EQ(terms_of_node(graph), 500);
  EXPECT_EQ(terms_of_node(graph_with("aten::embedding_bag", {{1000, 8}, {16, 20}}, {16, 8})), 20);
  EXPECT_EQ(terms_of_node(graph_with("aten::cat", {{16, 100}, {16, 100}}, {16, 200})), 1);
}

}  // namespace
}  // namespace cudal1
