#include "judge/match.hpp"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "judge/degenerate.hpp"
#include "judge/reduction_length.hpp"

namespace cudal1 {
namespace {

constexpr double ulp = 0x1.0p-23;
constexpr double function_ulps = 6.0;

//! The budget of a task of the collection on one draw of its inputs.
OutputBudget budget_of(const std::string& name, Distribution distribution,
                       PrecisionPolicy precision = PrecisionPolicy::standard) {
  Task task = load_task(std::filesystem::path(CUDAL1_SOURCE_DIR) / "tests" / "match_rule" / name);
  infer_metas(task);
  TensorTable leaves;
  draw_weights(task, 1, false, at::kCPU, leaves);
  draw_inputs(task, distribution, 2, at::kCPU, leaves);
  return MatchRule(task, at::kCPU, precision).expect(leaves, distribution, 3).budgets.at(0);
}

double floor_in_ulps(const OutputBudget& budget) { return budget.floor / (ulp * budget.scale); }

TEST(ErrorBudget, GrowsWithTheRootOfTheTerms) {
  EXPECT_NEAR(floor_in_ulps(budget_of("sum_4096", Distribution::negative)), function_ulps + 64.0, 1e-6);
  EXPECT_NEAR(floor_in_ulps(budget_of("sum_65536", Distribution::negative)), function_ulps + 256.0, 1e-6);
}

TEST(ErrorBudget, GrowsWithTheTermsWhereTheyAreEqual) {
  EXPECT_NEAR(floor_in_ulps(budget_of("sum_4096", Distribution::constant)), function_ulps + 4096.0, 1e-6);
  EXPECT_NEAR(floor_in_ulps(budget_of("softmax_4096", Distribution::tiny)), function_ulps + 4096.0, 1.0);
}

TEST(ErrorBudget, StopsGrowingBeforeItHidesTf32) {
  EXPECT_NEAR(floor_in_ulps(budget_of("sum_100000", Distribution::negative)), function_ulps + 256.0, 1e-6);
}

TEST(ErrorBudget, CountsUlpsOfOneForFunctionsThatPassThroughOne) {
  const OutputBudget budget = budget_of("elu", Distribution::tiny);
  EXPECT_LT(budget.scale, 0.01);
  EXPECT_NEAR(budget.movement, (function_ulps + 1.0) * ulp, 0.1 * ulp);
}

TEST(ErrorBudget, CountsUlpsOfTheArgumentForFunctionsThatScaleIt) {
  const OutputBudget budget = budget_of("gelu_erf", Distribution::negative);
  EXPECT_LT(budget.scale, 0.2);
  EXPECT_GT(budget.movement, 3.0 * (function_ulps + 1.0) * ulp);  // the largest of 65536 normal draws is above 3
}

TEST(ErrorBudget, IsAtLeastTheBenchmarksToleranceWhereThatDecides) {
  EXPECT_LT(budget_of("softmax_4096", Distribution::native).max, 1e-4);
  EXPECT_DOUBLE_EQ(budget_of("softmax_4096", Distribution::native, PrecisionPolicy::paper).max, 1e-2);
}

TEST(ErrorBudget, LetsTheRootMeanSquareOfOneNumberBeItsLargestError) {
  const OutputBudget one = budget_of("mean_all", Distribution::native), many = budget_of("silu", Distribution::native);
  EXPECT_EQ(one.distinct, 1);
  EXPECT_DOUBLE_EQ(one.rms, one.max);
  EXPECT_GT(many.distinct, 4000);
  EXPECT_NEAR(many.rms, 0.5 * many.floor, 0.05 * many.floor);
}

//! (x - mean) / deviation of each row.
Task standardised_rows() {
  Task task = parse_task(R"({"format": "cudal1.graph", "version": 1, "name": "t",
    "inputs": [{"name": "x", "dtype": "f32", "shape": [9, 37], "draw": {"kind": "normal"}}],
    "nodes": [{"name": "mean_1", "op": "aten::mean.dim", "args": ["x", [1], true]},
              {"name": "std_1", "op": "aten::std.correction", "args": ["x", [1]],
               "kwargs": {"correction": 1, "keepdim": true}},
              {"name": "sub_1", "op": "aten::sub.Tensor", "args": ["x", "mean_1"]},
              {"name": "div_1", "op": "aten::div.Tensor", "args": ["sub_1", "std_1"]}],
    "outputs": ["div_1"]})",
                         {});
  infer_metas(task);
  return task;
}

//! Of equal numbers that is 0/0, or one rounding by another; of others it is a number.
TEST(ErrorBudget, SaysNothingOfWhatIsFiniteByChance) {
  const Task task = standardised_rows();
  const MatchRule rule(task, at::kCPU, PrecisionPolicy::standard);
  for (const Distribution distribution : {Distribution::constant, Distribution::native}) {
    TensorTable leaves;
    draw_inputs(task, distribution, 2, at::kCPU, leaves);
    const Expected expected = rule.expect(leaves, distribution, 3);
    for (const float given : {0.0f, NAN}) {
      const auto errors = rule.compare(expected, {at::full({9, 37}, given)}, distribution);
      EXPECT_EQ(errors.at(0).matches(), distribution == Distribution::constant) << given;
    }
  }
}

//! Large numbers that differ by few of their ulps.
Task large_offset() {
  Task task = parse_task(R"({"format": "cudal1.graph", "version": 1, "name": "t", "inputs": [
      {"name": "x", "dtype": "f32", "shape": [64, 64], "draw": {"kind": "normal"}}], "nodes": [
      {"name": "s", "op": "aten::sigmoid", "args": ["x"]},
      {"name": "y", "op": "aten::add.Tensor", "args": ["s", 1500000]}], "outputs": ["y"]})",
                         {});
  infer_metas(task);
  return task;
}

//! Every column about a large number of its own.
Task large_columns() {
  Task task = parse_task(R"({"format": "cudal1.graph", "version": 1, "name": "t", "inputs": [
      {"name": "x", "dtype": "f32", "shape": [64, 64], "draw": {"kind": "normal"}}],
      "weights": [{"name": "b", "dtype": "f32", "shape": [64], "draw": {"kind": "uniform", "low": 500000, "high": 1000000}}],
      "nodes": [{"name": "t", "op": "aten::tanh", "args": ["x"]},
      {"name": "m", "op": "aten::mul.Tensor", "args": ["t", 0.25]},
      {"name": "y", "op": "aten::add.Tensor", "args": ["m", "b"]}], "outputs": ["y"]})",
                         {});
  infer_metas(task);
  return task;
}

TEST(Match, AConstantIsWrongWhereTheReferenceVariesHoweverSmallItsError) {
  const Task task = large_offset();
  const MatchRule rule(task, at::kCPU, PrecisionPolicy::standard);
  TensorTable leaves;
  draw_inputs(task, Distribution::native, 2, at::kCPU, leaves);
  const Expected expected = rule.expect(leaves, Distribution::native, 3);
  const at::Tensor constant = at::full({64, 64}, 1500000.5f);
  const OutputError error = rule.compare(expected, {constant}, Distribution::native).at(0);
  EXPECT_LE(error.margin(), 1.0);
  EXPECT_TRUE(error.constant);
  EXPECT_FALSE(error.matches());
  EXPECT_TRUE(rule.compare(expected, expected.reference, Distribution::native).at(0).matches());
  // Derived inputs may give constants honestly.
  EXPECT_TRUE(rule.compare(expected, {constant}, Distribution::tiny).at(0).matches());
}

TEST(Match, WhatDoesNotFollowTheInputsIsWrongHoweverSmallItsError) {
  const Task task = large_columns();
  MatchRule rule(task, at::kCPU, PrecisionPolicy::standard);
  TensorTable leaves;
  draw_weights(task, 1, false, at::kCPU, leaves);
  Random random(5);
  const InputDependence dependence = input_dependence(rule, task, leaves, at::kCPU, random);
  EXPECT_FALSE(dependence.degenerate);
  EXPECT_NEAR(dependence.variation.at(0).whole, 0.16, 0.02);
  draw_inputs(task, Distribution::native, 2, at::kCPU, leaves);
  // Every column has a number of its own, which weights tell.
  const at::Tensor columns = leaves.at(1).expand({64, 64}).contiguous();
  const auto compare = [&](const at::Tensor& candidate) {
    const Expected expected = rule.expect(leaves, Distribution::native, 3);
    return rule.compare(expected, {candidate}, Distribution::native).at(0);
  };
  EXPECT_TRUE(compare(columns).matches());
  rule.know_variation(dependence.variation);
  EXPECT_FALSE(compare(columns).matches());
  EXPECT_TRUE(compare(leaves.at(1) + leaves.at(0).tanh() * 0.25).matches());
}

//! Columns whose sizes differ by ten powers of ten.
Task scaled_columns() {
  Task task = parse_task(R"({"format": "cudal1.graph", "version": 1, "name": "t", "inputs": [
      {"name": "x", "dtype": "f32", "shape": [64, 40], "draw": {"kind": "normal"}},
      {"name": "e", "dtype": "f32", "shape": [40], "draw": {"kind": "uniform", "low": -20, "high": 4}}], "nodes": [
      {"name": "s", "op": "aten::exp", "args": ["e"]},
      {"name": "y", "op": "aten::mul.Tensor", "args": ["x", "s"]}], "outputs": ["y"]})",
                         {});
  infer_metas(task);
  return task;
}

struct ScaledColumns : ::testing::Test {
  ScaledColumns() : task(scaled_columns()), rule(task, at::kCPU, PrecisionPolicy::standard) {
    draw_inputs(task, Distribution::native, 2, at::kCPU, leaves);
    expected = rule.expect(leaves, Distribution::native, 3);
    smallest = expected.oracle.at(0).abs().amax(0).argmin().item<std::int64_t>();
  }
  OutputError compare(const at::Tensor& candidate) const {
    return rule.compare(expected, {candidate}, Distribution::native).at(0);
  }
  const Task task;
  const MatchRule rule;
  TensorTable leaves;
  Expected expected;
  std::int64_t smallest = 0;
};

TEST_F(ScaledColumns, HaveBudgetsOfTheirOwn) {
  const auto& slices = expected.budgets.at(0).slices;
  ASSERT_FALSE(slices.empty());
  const SliceBudget& columns = slices.back();
  EXPECT_EQ(columns.dimension, 1);
  EXPECT_EQ(columns.largest.numel(), 40);
  EXPECT_LT(columns.largest[smallest].item<double>(), 1e-6 * expected.budgets.at(0).max);
  EXPECT_TRUE(compare(expected.reference.at(0)).matches());
}

TEST_F(ScaledColumns, MayNotBeZeroWhereTheyAreSmall) {
  at::Tensor candidate = expected.reference.at(0).clone();
  candidate.select(1, smallest).zero_();
  const OutputError error = compare(candidate);
  EXPECT_LE(error.max_error, error.max_budget);
  EXPECT_LE(error.rms_error, error.rms_budget);
  EXPECT_FALSE(error.matches());
  EXPECT_EQ(error.slice.dimension, 1);
  EXPECT_EQ(error.slice.index, smallest);
  const at::Tensor& usual = expected.reference.at(0);
  EXPECT_EQ(closeness(candidate, usual, expected.budgets.at(0)), Closeness::on_the_whole);
  EXPECT_EQ(closeness(at::zeros_like(usual), usual, expected.budgets.at(0)), Closeness::no);
  EXPECT_EQ(closeness(usual, usual, expected.budgets.at(0)), Closeness::surely);
}

TEST_F(ScaledColumns, MayBeOffByAFewOfTheirOwnUlps) {
  const at::Tensor candidate = expected.reference.at(0) * (1.0 + 3.0 * ulp);
  EXPECT_TRUE(compare(candidate).matches());
  EXPECT_TRUE(surely_close(candidate, expected.reference.at(0), expected.budgets.at(0)));
}

TEST_F(ScaledColumns, AreCheckedOnOtherInputsByTheirSizesThere) {
  TensorTable other_leaves;
  draw_inputs(task, Distribution::native, 5, at::kCPU, other_leaves);
  const at::Tensor reference = rule.reference(other_leaves).at(0);
  EXPECT_TRUE(surely_close(reference, reference, expected.budgets.at(0)));
  for (std::int64_t column = 0; column < 40; ++column) {
    at::Tensor candidate = reference.clone();
    candidate.select(1, column).zero_();
    EXPECT_FALSE(surely_close(candidate, reference, expected.budgets.at(0))) << column;
  }
}

TEST(ErrorBudget, CountsTheRoundingOfWhatNodesHandOn) {
  Task task = parse_task(R"({"format": "cudal1.graph", "version": 1, "name": "t", "inputs": [
      {"name": "x", "dtype": "f32", "shape": [64, 900], "draw": {"kind": "normal"}}], "nodes": [
      {"name": "s", "op": "aten::add.Tensor", "args": ["x", 3]},
      {"name": "y", "op": "aten::layer_norm", "args": ["s", [900]]}], "outputs": ["y"]})",
                         {});
  infer_metas(task);
  TensorTable leaves;
  draw_inputs(task, Distribution::denormal, 2, at::kCPU, leaves);
  const OutputBudget budget =
      MatchRule(task, at::kCPU, PrecisionPolicy::standard).expect(leaves, Distribution::denormal, 3).budgets.at(0);
  // A mean of 900 equal numbers may be off by hundreds of their ulps, divided by the root of epsilon.
  EXPECT_GT(budget.movement, 100 * 3 * ulp / std::sqrt(1e-5) / 2);
}

TEST(SliceBudgets, AreNoneWhereAllPartsAreAlike) {
  const Task task = large_offset();
  TensorTable leaves;
  draw_inputs(task, Distribution::native, 2, at::kCPU, leaves);
  const MatchRule rule(task, at::kCPU, PrecisionPolicy::standard);
  EXPECT_TRUE(rule.expect(leaves, Distribution::native, 3).budgets.at(0).slices.empty());
}

TEST(Match, AConstantIsRightWhereTheReferenceIsOneUpToItsRounding) {
  Task task = parse_task(R"({"format": "cudal1.graph", "version": 1, "name": "t", "inputs": [
      {"name": "x", "dtype": "f32", "shape": [64, 333], "draw": {"kind": "normal"}}], "nodes": [
      {"name": "p", "op": "aten::softmax.int", "args": ["x", -1]},
      {"name": "y", "op": "aten::sum.dim_IntList", "args": ["p", [-1]]}], "outputs": ["y"]})",
                         {});
  infer_metas(task);
  const MatchRule rule(task, at::kCPU, PrecisionPolicy::standard);
  TensorTable leaves;
  draw_inputs(task, Distribution::native, 2, at::kCPU, leaves);
  const Expected expected = rule.expect(leaves, Distribution::native, 3);
  EXPECT_FALSE(expected.budgets.at(0).varies);
  EXPECT_TRUE(rule.compare(expected, {at::ones({64})}, Distribution::native).at(0).matches());
}

}  // namespace
}  // namespace cudal1
