#include "graph/random_nodes.hpp"

#include "tensor_helpers.hpp"

namespace cudal1 {
namespace {

using testing::draw_leaves;
using testing::expect_same;
using testing::make_task;
using testing::one_input;
using testing::run_task;

Task dropout_task(const std::string& dtype, const std::string& p) {
  return make_task(one_input(dtype, "[64, 50]"),
                   R"({"name": "native_dropout_1", "op": "aten::native_dropout", "args": ["x", )" + p + R"(, true]},
                      {"name": "other", "op": "aten::native_dropout", "args": ["x", )" +
                       p + R"(, true]})",
                   R"("native_dropout_1", "native_dropout_1[1]", "other[1]")");
}

TEST(RandomNodes, DrawTheSameAtEveryCallAndOtherNodesOtherNumbers) {
  const Task task = dropout_task("f32", "0.25");
  const TensorTable leaves = draw_leaves(task);
  const auto first = run_task(task, leaves), second = run_task(task, leaves);
  expect_same(first[0], second[0]);
  expect_same(first[1], second[1]);
  EXPECT_FALSE(at::equal(first[1], first[2]));
  const double kept = first[1].to(at::kDouble).mean().item<double>();
  EXPECT_NEAR(kept, 0.75, 0.04);
}

TEST(RandomNodes, TheOracleTakesTheReferencesDrawsAndComputesWithThemInFp64) {
  for (const char* dtype : {"f32", "f16", "bf16"}) {
    const Task task = dropout_task(dtype, "0.3");
    const TensorTable leaves = draw_leaves(task);
    const auto reference = run_task(task, leaves), oracle = run_task(task, leaves, {.fp64 = true});
    expect_same(oracle[1], reference[1]);
    expect_same(oracle[0], leaves[0].to(at::kDouble).mul(reference[1]).mul(1.0 / 0.7));
  }
}

TEST(RandomNodes, APerturbedOracleDropsTheSame) {
  const Task task = dropout_task("f32", "0.5");
  TensorTable leaves = draw_leaves(task);
  const auto before = run_task(task, leaves, {.fp64 = true});
  leaves[0] = leaves[0].to(at::kDouble) * (1.0 + 1e-9);
  expect_same(run_task(task, leaves, {.fp64 = true})[1], before[1]);
}

TEST(RandomNodes, DroppingAllLeavesZeros) {
  const Task task = dropout_task("f32", "1.0");
  const TensorTable leaves = draw_leaves(task);
  EXPECT_EQ(run_task(task, leaves)[0].abs().sum().item<double>(), 0.0);
  EXPECT_EQ(run_task(task, leaves, {.fp64 = true})[0].abs().sum().item<double>(), 0.0);
}

TEST(RandomNodes, NoiseIsTheSameForReferenceAndOracle) {
  for (const char* node : {R"({"name": "n", "op": "aten::rand_like", "args": ["x"]})",
                           R"({"name": "n", "op": "aten::randn_like", "args": ["x"]})",
                           R"({"name": "n", "op": "aten::bernoulli.p", "args": ["x", 0.5]})"}) {
    const Task task = make_task(one_input("f32", "[40, 50]"), node, R"("n")");
    const TensorTable leaves = draw_leaves(task);
    const auto reference = run_task(task, leaves), oracle = run_task(task, leaves, {.fp64 = true});
    expect_same(oracle[0], reference[0].to(at::kDouble));
    EXPECT_GT(reference[0].std().item<double>(), 0.2) << node;
  }
}

TEST(RandomNodes, SeedsAreThoseOfThePythonBridge) {  // python/tests/test_graph_files.py has the same numbers
  EXPECT_EQ(seed_of_node("native_dropout_1"), 1846825963892192421u);
  EXPECT_EQ(seed_of_node(""), 0xcbf29ce484222325u >> 1);
}

}  // namespace
}  // namespace cudal1
