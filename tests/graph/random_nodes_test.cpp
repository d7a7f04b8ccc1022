#include "graph/random_nodes.hpp"

#include <fmt/format.h>

#include "base/result.hpp"
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

TEST(RandomNodes, WhatIsDrawnFromSizesAloneIsTheSameForReferenceAndOracle) {
  for (const char* drawn :
       {R"("op": "aten::rand", "args": [[40, 50]])", R"("op": "aten::randn", "args": [[40, 50]])",
        R"("op": "aten::randn", "args": [[40, 50]], "kwargs": {"dtype": {"dtype": "f16", "compute": true}})",
        R"("op": "aten::randint", "args": [9, [40, 50]])", R"("op": "aten::randint.low", "args": [3, 9, [40, 50]])",
        R"("op": "aten::randint_like", "args": ["x", 9])",
        R"("op": "aten::randint_like.low_dtype", "args": ["x", 3, 9])", R"("op": "aten::randperm", "args": [40])",
        R"("op": "aten::normal.float_float", "args": [1.0, 2.0, [40, 50]])",
        R"("op": "aten::normal_functional", "args": ["x", 1.0, 2.0])",
        R"("op": "aten::uniform", "args": ["x", 1.0, 3.0])", R"("op": "aten::exponential", "args": ["x"])",
        R"("op": "aten::geometric", "args": ["x", 0.2])", R"("op": "aten::cauchy", "args": ["x"])",
        R"("op": "aten::log_normal", "args": ["x"])"}) {
    const std::string nodes = fmt::format(
        R"({{"name": "a", {0}}}, {{"name": "b", {0}}}, {{"name": "y", "op": "aten::mul.Scalar", "args": ["a", 3]}})",
        drawn);
    const Task task = make_task(one_input("f32", "[40, 50]"), nodes, R"("a", "b", "y")");
    const TensorTable leaves = draw_leaves(task);
    const auto reference = run_task(task, leaves), again = run_task(task, leaves);
    const auto oracle = run_task(task, leaves, {.fp64 = true});
    expect_same(reference[0], again[0]);
    EXPECT_FALSE(at::equal(reference[0], reference[1])) << drawn;
    const at::ScalarType wide = reference[0].is_floating_point() ? at::kDouble : reference[0].scalar_type();
    expect_same(oracle[0], reference[0].to(wide));
    expect_same(oracle[2], reference[0].to(wide) * 3);
  }
}

TEST(RandomNodes, AreRefusedWhereDrawsDependOnValuesOrDoNotShow) {
  for (const char* drawn :
       {R"("op": "aten::poisson", "args": ["x"])", R"("op": "aten::bernoulli", "args": ["x"])",
        R"("op": "aten::multinomial", "args": ["x", 2])", R"("op": "aten::dropout", "args": ["x", 0.5, true])",
        R"("op": "aten::rrelu", "args": ["x", 0.1, 0.2, true])"}) {
    const std::string node = fmt::format(R"({{"name": "n", {}}})", drawn);
    try {
      Task task = make_task(one_input("f32", "[4, 5]"), node, R"("n")");
      infer_metas(task);
      ADD_FAILURE() << drawn;
    } catch (const Error& problem) {
      EXPECT_NE(std::string(problem.what()).find("cannot be drawn again"), std::string::npos) << problem.what();
    }
  }
}

TEST(RandomNodes, SeedsAreThoseOfThePythonBridge) {  // python/tests/test_graph_files.py has the same numbers
  EXPECT_EQ(seed_of_node("native_dropout_1"), 1846825963892192421u);
  EXPECT_EQ(seed_of_node(""), 0xcbf29ce484222325u >> 1);
}

}  // namespace
}  // namespace cudal1
