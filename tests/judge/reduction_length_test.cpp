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

TEST(LongestReduction, CountsTheTermsOfEachSum) {
  EXPECT_EQ(longest_reduction(graph_with("aten::mm", {{8, 512}, {512, 4}}, {8, 4})), 512);
  EXPECT_EQ(longest_reduction(graph_with("aten::addmm", {{4}, {8, 300}, {300, 4}}, {8, 4})), 300);
  EXPECT_EQ(longest_reduction(graph_with("aten::conv2d", {{1, 3, 9, 9}, {6, 3, 5, 5}}, {1, 6, 5, 5})), 75);
  EXPECT_EQ(longest_reduction(graph_with("aten::softmax.int", {{16, 1024}}, {16, 1024})), 1024);
  EXPECT_EQ(longest_reduction(graph_with("aten::layer_norm", {{16, 768}}, {16, 768})), 768);
  EXPECT_EQ(longest_reduction(graph_with("aten::sum.dim_IntList", {{16, 100}}, {16})), 100);
  EXPECT_EQ(longest_reduction(graph_with("aten::relu", {{16, 100}}, {16, 100})), 1);
}

}  // namespace
}  // namespace cudal1
