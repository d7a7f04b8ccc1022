// The match rule on tasks with steps, whole numbers and sums that have nothing to do with each other.
#include <ATen/ATen.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "judge/match.hpp"

namespace cudal1 {
namespace {

struct Judged {
  explicit Judged(const std::string& leaves_and_nodes, Distribution drawn = Distribution::native)
      : task(with_metas(leaves_and_nodes)), rule(task, at::kCPU, PrecisionPolicy::standard), distribution(drawn) {
    draw_weights(task, 1, false, at::kCPU, leaves);
    draw_inputs(task, distribution, 2, at::kCPU, leaves);
    expected = rule.expect(leaves, distribution, 3);
  }
  static Task with_metas(const std::string& text) {
    Task task = parse_task(R"({"format": "cudal1.graph", "version": 1, "name": "t", )" + text + "}", {});
    infer_metas(task);
    return task;
  }
  const at::Tensor& reference(std::size_t index = 0) const { return expected.reference.at(index); }
  OutputError compare(at::Tensor candidate, std::size_t index = 0) const {
    std::vector<at::Tensor> results = expected.reference;
    results.at(index) = std::move(candidate);
    return rule.compare(expected, results, distribution).at(index);
  }
  Task task;
  MatchRule rule;
  Distribution distribution;
  TensorTable leaves;
  Expected expected;
};

constexpr const char* bucket = R"(
    "inputs": [{"name": "x", "dtype": "f32", "shape": [65536], "draw": {"kind": "uniform", "low": 0, "high": 64}}],
    "weights": [{"name": "w", "dtype": "f32", "shape": [64, 4], "draw": {"kind": "normal"}}], "nodes": [
    {"name": "f", "op": "aten::floor", "args": ["x"]}, {"name": "c", "op": "aten::clamp", "args": ["f", 0, 63]},
    {"name": "i", "op": "aten::to.dtype", "args": ["c", {"dtype": "i64"}]},
    {"name": "e", "op": "aten::embedding", "args": ["w", "i"]}], "outputs": ["e"])";

TEST(MatchBehindSteps, RowsOfATableAreExactButForThoseAtAStep) {
  const Judged judged(bucket);
  EXPECT_TRUE(judged.compare(judged.reference()).matches());
  EXPECT_LT(judged.expected.budgets.at(0).max, 1e-4);
  const at::Tensor others =
      judged.leaves.at(1).index_select(0, judged.leaves.at(0).floor().sub(1).clamp(0, 63).to(at::kLong));
  EXPECT_FALSE(judged.compare(others).matches());
  at::Tensor one_wrong = judged.reference().clone();
  one_wrong[17] = one_wrong[17] + 1.0;
  EXPECT_FALSE(judged.compare(one_wrong).matches());
}

TEST(MatchBehindSteps, AnHonestProgramMayFallOnTheOtherSide) {
  const Judged judged(bucket);
  const at::Tensor x = judged.leaves.at(0);
  for (const double ulps : {-1.0, 1.0}) {  // another way to compute x
    const at::Tensor moved = (x.to(at::kDouble) * (1.0 + ulps * 0x1.0p-23)).to(at::kFloat);
    EXPECT_TRUE(
        judged.compare(judged.leaves.at(1).index_select(0, moved.floor().clamp(0, 63).to(at::kLong))).matches());
  }
}

constexpr const char* quantization = R"(
    "inputs": [{"name": "x", "dtype": "f32", "shape": [256, 256], "draw": {"kind": "normal"}}], "nodes": [
    {"name": "d", "op": "aten::div.Tensor", "args": ["x", 0.05]}, {"name": "r", "op": "aten::round", "args": ["d"]},
    {"name": "c", "op": "aten::clamp", "args": ["r", -128, 127]},
    {"name": "q", "op": "aten::to.dtype", "args": ["c", {"dtype": "i8"}]}], "outputs": ["q"])";

TEST(MatchBehindSteps, FewIntegersAreUndecided) {
  const Judged judged(quantization);
  const OpenIntegers& open = judged.expected.integers.at(0);
  EXPECT_LT(open.low.ne(open.high).sum().item<std::int64_t>(), 100);
  const at::Tensor honest = judged.leaves.at(0).mul(20.0).round().clamp(-128, 127).to(at::kChar);
  EXPECT_TRUE(judged.compare(honest).matches());
  at::Tensor last_wrong = judged.reference().clone();
  last_wrong[255][255] += 1;
  EXPECT_FALSE(judged.compare(last_wrong).matches());
}

TEST(MatchOfWholeNumbers, LabelsDoNotMove) {
  const Judged judged(R"("inputs": [
      {"name": "x", "dtype": "f32", "shape": [4096], "draw": {"kind": "integers", "low": 1, "high": 4}},
      {"name": "y", "dtype": "f32", "shape": [4096], "draw": {"kind": "integers", "low": 1, "high": 4}}], "nodes": [
      {"name": "e", "op": "aten::eq.Tensor", "args": ["x", "y"]},
      {"name": "f", "op": "aten::to.dtype", "args": ["e", {"dtype": "f32"}]},
      {"name": "m", "op": "aten::mean", "args": ["f"]}], "outputs": ["m"])");
  EXPECT_TRUE(judged.compare(judged.reference()).matches());
  EXPECT_FALSE(judged.compare(judged.reference() * 0.99).matches());
}

TEST(MatchOfWholeNumbers, RunningSumsOfIntegersAreEqual) {
  for (const char* dtype : {"i64", "bool"}) {
    const Judged judged(R"("inputs": [{"name": "x", "dtype": ")" + std::string(dtype) +
                        R"(", "shape": [8, 64], "draw": {"kind": "integers", "low": 0, "high": 2}}], "nodes": [
                        {"name": "c", "op": "aten::cumsum", "args": ["x", 1]}], "outputs": ["c"])");
    EXPECT_TRUE(judged.compare(judged.reference()).matches());
    EXPECT_FALSE(judged.compare(judged.reference() + 1).matches());
  }
}

TEST(MatchBehindSteps, WhoeverIsFirstAmongEqualsIsOpen) {
  const Judged judged(R"("inputs": [{"name": "x", "dtype": "f32", "shape": [512, 8], "draw": {"kind": "normal"}}],
      "nodes": [{"name": "t", "op": "aten::topk", "args": ["x", 2]}], "outputs": ["t", "t[1]"])",
                      Distribution::constant);
  at::Tensor last = at::empty({512, 2}, at::kLong);
  last.select(1, 0).fill_(7);
  last.select(1, 1).fill_(6);
  EXPECT_TRUE(judged.compare(last, 1).matches());
}

constexpr const char* masked_argmax = R"(
    "inputs": [{"name": "x", "dtype": "f32", "shape": [64, 128], "draw": {"kind": "normal"}},
               {"name": "m", "dtype": "bool", "shape": [64, 128], "draw": {"kind": "bernoulli", "p": 0.5}}],
    "nodes": [{"name": "f", "op": "aten::masked_fill.Scalar", "args": ["x", "m", {"float": "-inf"}]},
              {"name": "a", "op": "aten::argmax", "args": ["f", 1]}], "outputs": ["a"])";

TEST(MatchBehindInfinities, PlacesAreThoseThatWereSeen) {
  const Judged judged(masked_argmax);
  EXPECT_TRUE(judged.compare(judged.reference()).matches());
  EXPECT_FALSE(judged.compare(at::full_like(judged.reference(), -12345)).matches());
  EXPECT_FALSE(judged.compare(judged.leaves.at(0).argmax(1)).matches());
}

TEST(MatchBehindInfinities, WhatIsMaskedIsJudgedToo) {
  const Judged judged(R"(
      "inputs": [{"name": "x", "dtype": "f32", "shape": [64, 128], "draw": {"kind": "normal"}},
                 {"name": "m", "dtype": "bool", "shape": [64, 128], "draw": {"kind": "bernoulli", "p": 0.05}}],
      "nodes": [{"name": "f", "op": "aten::masked_fill.Scalar", "args": ["x", "m", {"float": "-inf"}]},
                {"name": "e", "op": "aten::exp", "args": ["f"]}, {"name": "g", "op": "aten::gt.Scalar", "args": ["x", 0]},
                {"name": "y", "op": "aten::mul.Tensor", "args": ["e", "g"]}], "outputs": ["y"])");
  EXPECT_TRUE(judged.compare(judged.reference()).matches());
  for (const double unwritten : {std::nan(""), 1e30})
    EXPECT_FALSE(judged.compare(judged.reference().masked_fill(judged.leaves.at(1), unwritten)).matches());
}

TEST(MatchBehindSteps, LargeIntegersLieWhereTheirArgumentMayBe) {
  const Judged judged(R"(
      "inputs": [{"name": "x", "dtype": "f32", "shape": [16384], "draw": {"kind": "normal"}}], "nodes": [
      {"name": "m", "op": "aten::mul.Tensor", "args": ["x", 1e12]},
      {"name": "q", "op": "aten::to.dtype", "args": ["m", {"dtype": "i64"}]}], "outputs": ["q"])");
  const at::Tensor x = judged.leaves.at(0);
  EXPECT_TRUE(judged.compare((x.to(at::kDouble) * 1e12).to(at::kLong)).matches());
  EXPECT_TRUE(judged.compare((x * 1e6f * 1e6f).to(at::kLong)).matches());
  EXPECT_FALSE(judged.compare(at::full_like(judged.reference(), -77)).matches());
  EXPECT_FALSE(judged.compare(judged.reference().masked_fill(x.abs().gt(1.0), 0)).matches());
  EXPECT_FALSE(judged.compare((x.to(at::kHalf).to(at::kDouble) * 1e12).to(at::kLong)).matches());
}

TEST(MatchBehindSteps, EveryNumberThatMayBeRoundedUpOrDownIsSeen) {
  const Judged judged(R"(
      "inputs": [{"name": "x", "dtype": "f32", "shape": [1048576], "draw": {"kind": "normal"}}], "nodes": [
      {"name": "d", "op": "aten::div.Tensor", "args": ["x", 3e-6]}, {"name": "r", "op": "aten::round", "args": ["d"]},
      {"name": "q", "op": "aten::to.dtype", "args": ["r", {"dtype": "i32"}]}], "outputs": ["q"])");
  EXPECT_TRUE(judged.compare((judged.leaves.at(0) * (1.0f / 3e-6f)).round().to(at::kInt)).matches());
  EXPECT_FALSE(judged.compare(judged.leaves.at(0).div(3e-6).trunc().to(at::kInt)).matches());
}

TEST(MatchOfWholeNumbers, ProductsAreEqual) {
  const Judged judged(R"("inputs": [
      {"name": "a", "dtype": "f32", "shape": [64, 64], "draw": {"kind": "integers", "low": -8, "high": 8}},
      {"name": "b", "dtype": "f32", "shape": [64, 64], "draw": {"kind": "integers", "low": -8, "high": 8}}], "nodes": [
      {"name": "m", "op": "aten::mm", "args": ["a", "b"]},
      {"name": "q", "op": "aten::to.dtype", "args": ["m", {"dtype": "i32"}]}], "outputs": ["q"])");
  EXPECT_TRUE(judged.compare(judged.reference()).matches());
  EXPECT_FALSE(judged.compare(judged.reference() - judged.reference().sign()).matches());
}

TEST(MatchBehindSteps, ManyElementsThatJumpDoNotWidenTheBudgetOfEachOther) {
  const Judged judged(R"(
      "inputs": [{"name": "x", "dtype": "f32", "shape": [16, 256], "draw": {"kind": "normal"}}],
      "weights": [{"name": "w", "dtype": "f32", "shape": [1024, 256], "draw": {"kind": "normal", "std": 0.0625}},
                  {"name": "v", "dtype": "f32", "shape": [64, 1024], "draw": {"kind": "normal", "std": 0.03}}],
      "nodes": [{"name": "h", "op": "aten::linear", "args": ["x", "w"]},
                {"name": "m", "op": "aten::mul.Tensor", "args": ["h", 160.0]},
                {"name": "r", "op": "aten::round", "args": ["m"]},
                {"name": "y", "op": "aten::linear", "args": ["r", "v"]}], "outputs": ["y"])");
  const at::Tensor &x = judged.leaves.at(0), &w = judged.leaves.at(1), &v = judged.leaves.at(2);
  const auto result = [&](const at::Tensor& weights) {
    return at::linear((at::linear(x.flip(1), w.flip(1)) * 160.0).round(), weights);
  };
  const at::Tensor jumps = judged.expected.budgets.at(0).jumps.elements;
  ASSERT_TRUE(jumps.defined());
  EXPECT_GT(jumps.to(at::kDouble).mean().item<double>(), 0.1);
  EXPECT_TRUE(judged.compare(result(v)).matches());
  EXPECT_FALSE(judged.compare(result(v.to(at::kHalf).to(at::kFloat))).matches());
}

TEST(MatchOfWholeNumbers, SumsBeyondWhatFp32CountsToAreRounded) {
  const Judged judged(R"("inputs": [
      {"name": "a", "dtype": "f32", "shape": [16, 16384], "draw": {"kind": "integers", "low": 0, "high": 65536}},
      {"name": "b", "dtype": "f32", "shape": [16, 16384], "draw": {"kind": "integers", "low": 0, "high": 65536}}],
      "nodes": [{"name": "s", "op": "aten::sum.dim_IntList", "args": ["a", [1]]},
                {"name": "t", "op": "aten::sum.dim_IntList", "args": ["b", [1]]},
                {"name": "y", "op": "aten::sub.Tensor", "args": ["s", "t"]}], "outputs": ["y"])");
  const auto sequential = [](const at::Tensor& rows) {
    at::Tensor sum = at::zeros({rows.size(0)}, rows.options());
    for (std::int64_t i = 0; i < rows.size(1); ++i) sum += rows.select(1, i);
    return sum;
  };
  EXPECT_TRUE(judged.compare(sequential(judged.leaves.at(0)) - sequential(judged.leaves.at(1))).matches());
}

TEST(MatchOfUnrelatedOutputs, ALongSumWidensItsOwnBudgetOnly) {
  const std::string x = R"("inputs": [{"name": "x", "dtype": "f32", "shape": [64, 64], "draw": {"kind": "normal"}},
      {"name": "z", "dtype": "f32", "shape": [65536], "draw": {"kind": "normal"}}], "nodes": [)";
  std::string nodes;
  for (int i = 0; i < 40; ++i)
    nodes += fmt::format(R"({{"name": "m{}", "op": "aten::mul.Tensor", "args": ["{}", {}]}}, )", i,
                         i == 0 ? "x" : fmt::format("m{}", i - 1), i % 2 == 0 ? "1.25" : "0.8");
  const Judged judged(x + nodes + R"({"name": "s", "op": "aten::sum", "args": ["z"]}], "outputs": ["m39", "s"])");
  const at::Tensor tf32 = judged.reference().view(at::kInt).bitwise_and(~0x1fff).view(at::kFloat);
  EXPECT_FALSE(judged.compare(tf32).matches());
  EXPECT_TRUE(judged.compare(judged.leaves.at(0)).matches());
}

TEST(Agreement, OfTwoRunsIsByTheBudgetsOfTheirParts) {
  const Judged judged(R"("inputs": [{"name": "x", "dtype": "f32", "shape": [64, 256], "draw": {"kind": "normal"}}],
      "weights": [{"name": "w", "dtype": "f32", "shape": [32, 256], "draw": {"kind": "normal", "std": 0.02}},
      {"name": "b", "dtype": "f32", "shape": [32], "draw": {"kind": "uniform", "low": -5.5, "high": 0.5}}], "nodes": [
      {"name": "l", "op": "aten::linear", "args": ["x", "w", "b"]},
      {"name": "g", "op": "aten::gelu", "args": ["l"]}], "outputs": ["g"])");
  const at::Tensor x = judged.leaves.at(0), w = judged.leaves.at(1), b = judged.leaves.at(2);
  const at::Tensor other = at::gelu(at::linear(x.flip(1).contiguous(), w.flip(1).contiguous(), b));
  const OutputBudget& budget = judged.expected.budgets.at(0);
  EXPECT_FALSE(budget.slices.empty());
  EXPECT_TRUE(agree(judged.reference(), other, budget));
  EXPECT_FALSE(agree(judged.reference(), judged.reference() + 3.0 * budget.max, budget));
}

}  // namespace
}  // namespace cudal1
