// Changes of a graph leave it whole.
#include "writer/rewrite/graph_edit.hpp"

#include <gtest/gtest.h>

namespace cudal1 {
namespace {

const TensorMeta meta{DType::f32, {4, 6}, {6, 1}};

Node unary(const std::string& name, const char* op, ValueId of) {
  Node node;
  node.name = name;
  node.op = op;
  node.args = {ValueRef{of}};
  return node;
}

//! x -> exp_1 -> t_1 (a view) -> neg_1; outputs neg_1 and exp_1.
struct Example {
  OpGraph graph;
  ValueId x = 0, exp = -1, t = -1, neg = -1;

  Example() {
    graph.values.push_back({"x", ValueKind::input, meta});
    graph.inputs = {0};
    exp = insert_node(graph, 0, unary("exp_1", "aten::exp", x), {meta});
    t = insert_view(graph, 1, unary("t_1", "aten::t", exp), {DType::f32, {6, 4}, {1, 6}}, exp);
    neg = insert_node(graph, 2, unary("neg_1", "aten::neg", t), {{DType::f32, {6, 4}, {4, 1}}});
    graph.outputs = {neg, exp};
  }

  void expect_whole() const {
    for (std::size_t i = 0; i < graph.nodes.size(); ++i)
      for (const ValueId output : graph.nodes[i].outputs) EXPECT_EQ(graph.values[output].node, static_cast<int>(i));
    for (std::size_t i = 0; i < graph.nodes.size(); ++i)
      for (const ValueId read : graph.reads(graph.nodes[i])) EXPECT_LT(graph.values[read].node, static_cast<int>(i));
  }
};

TEST(GraphEdit, InsertsNodesAnywhere) {
  Example example;
  insert_node(example.graph, 1, unary("abs_1", "aten::abs", example.exp), {meta, meta});
  example.expect_whole();
  EXPECT_EQ(example.graph.nodes[1].name, "abs_1");
  EXPECT_EQ(example.graph.find_value("abs_1[1]"), example.graph.nodes[1].outputs[1]);
  EXPECT_EQ(example.graph.values[example.neg].node, 3);
}

TEST(GraphEdit, NamesDoNotClash) {
  Example example;
  EXPECT_EQ(derived_name(example.graph, "exp_1", "bias"), "exp_1_bias");
  insert_node(example.graph, 0, unary("exp_1_bias", "aten::exp", example.x), {meta});
  EXPECT_EQ(derived_name(example.graph, "exp_1", "bias"), "exp_1_bias_2");
}

TEST(GraphEdit, RedirectsReadersViewsAndOutputs) {
  Example example;
  const ValueId made = insert_node(example.graph, 1, unary("abs_1", "aten::abs", example.exp), {meta});
  redirect_readers(example.graph, example.exp, made, 1);
  example.expect_whole();
  EXPECT_EQ(example.graph.reads(example.graph.nodes[1]), std::vector{example.exp});
  EXPECT_EQ(example.graph.reads(example.graph.nodes[2]), std::vector{made});
  EXPECT_EQ(example.graph.values[example.t].view->base, made);
  EXPECT_EQ(example.graph.outputs, (std::vector{example.neg, made}));
}

TEST(GraphEdit, AliasesCarryTheirViewsAlong) {
  Example example;
  make_alias(example.graph, example.exp, example.x);
  example.expect_whole();
  EXPECT_EQ(example.graph.values[example.exp].view->base, example.x);
  EXPECT_EQ(example.graph.values[example.t].view->base, example.x);
  EXPECT_EQ(example.graph.nodes[0].op, "aten::alias");
}

TEST(GraphEdit, TakesAwayWhatNobodyNeedsAndNothingElse) {
  Example example;
  remove_if_unread(example.graph, example.neg);
  EXPECT_EQ(example.graph.nodes.size(), 3u);  // the task returns it
  example.graph.outputs = {example.exp};
  remove_if_unread(example.graph, example.neg);
  example.expect_whole();
  ASSERT_EQ(example.graph.nodes.size(), 1u);  // the view goes with it
  EXPECT_EQ(example.graph.nodes[0].name, "exp_1");
  EXPECT_EQ(example.graph.values[example.neg].node, -1);
}

TEST(GraphEdit, RestoresTheOrderOfNodes) {
  Example example;
  const ValueId late = insert_node(example.graph, 3, unary("abs_1", "aten::abs", example.x), {meta});
  set_argument(example.graph.nodes[0], 0, "self", ValueRef{late});
  restore_order(example.graph);
  example.expect_whole();
  EXPECT_EQ(example.graph.nodes[0].name, "abs_1");
}

TEST(GraphEdit, SaysWhyAValueNeedsItsOwnMemory) {
  Example example;
  EXPECT_NE(objection_to_alias(example.graph, example.exp, example.x), std::nullopt);  // both outside the task
  example.graph.outputs = {example.neg};
  EXPECT_EQ(objection_to_alias(example.graph, example.exp, example.x), std::nullopt);
  example.graph.values[example.x].kind = ValueKind::state;
  EXPECT_NE(objection_to_alias(example.graph, example.exp, example.x), std::nullopt);
}

}  // namespace
}  // namespace cudal1
