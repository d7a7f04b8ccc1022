#include "judge/match.hpp"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

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
