// What large numbers would hide: small ones beside them, and what has little to do with the inputs.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "judge/degenerate.hpp"
#include "judge/match.hpp"
#include "judge/written_variance.hpp"

namespace cudal1 {
namespace {

Task with_metas(const std::string& leaves_and_nodes) {
  Task task = parse_task(R"({"format": "cudal1.graph", "version": 1, "name": "t", )" + leaves_and_nodes + "}", {});
  infer_metas(task);
  return task;
}

//! A task whose variation is known, as the judge has it.
struct Known {
  explicit Known(const std::string& text) : task(with_metas(text)), rule(task, at::kCPU, PrecisionPolicy::strict) {
    Random random(5);
    draw_weights(task, 1, false, at::kCPU, leaves);
    for (const ValueId state : task.graph.states) leaves[static_cast<std::size_t>(state)] = at::ones({32});
    rule.know_variation(input_dependence(rule, task, leaves, at::kCPU, random).variation);
    draw_inputs(task, Distribution::native, 2, at::kCPU, leaves);
    expected = rule.expect(leaves, Distribution::native, 3);
  }
  OutputError compare(const at::Tensor& candidate, std::size_t index = 0) const {
    std::vector<at::Tensor> results = expected.reference;
    results.at(index) = candidate;
    return rule.compare(expected, results, Distribution::native).at(index);
  }
  Task task;
  MatchRule rule;
  TensorTable leaves;
  Expected expected;
};

std::string masked_scores(const std::string& fill) {
  return R"("inputs": [{"name": "q", "dtype": "f32", "shape": [128, 64], "draw": {"kind": "normal"}},
      {"name": "k", "dtype": "f32", "shape": [64, 128], "draw": {"kind": "normal"}},
      {"name": "m", "dtype": "bool", "shape": [128, 128], "draw": {"kind": "bernoulli", "p": 0.2}}], "nodes": [
      {"name": "s", "op": "aten::matmul", "args": ["q", "k"]},
      {"name": "y", "op": "aten::masked_fill.Scalar", "args": ["s", "m", )" +
         fill + R"(]}], "outputs": ["y"])";
}

TEST(HiddenNumbers, BesideAMaskHaveABudgetOfTheirOwn) {
  for (const char* fill : {"-1000000.0", "-1000000000.0", "-3.4028234663852886e+38"}) {
    const Known known(masked_scores(fill));
    const at::Tensor &right = known.expected.reference[0], mask = known.leaves[2];
    EXPECT_TRUE(known.compare(right).matches());
    EXPECT_FALSE(known.compare(at::where(mask, right, at::zeros_like(right))).matches()) << fill;
    EXPECT_FALSE(known.compare(at::where(mask, right, right.to(at::kBFloat16).to(at::kFloat))).matches()) << fill;
    EXPECT_TRUE(known.compare(at::where(mask, right, right * (1.0 + 0x1.0p-22))).matches()) << fill;
    EXPECT_GT(known.compare(right + at::where(mask, 0.0, 1.0)).part.share(), 1.0);
  }
}

TEST(HiddenNumbers, AreNoneWhereNumbersAreOfOneSize) {
  const Known known(R"("inputs": [{"name": "x", "dtype": "f32", "shape": [128, 64], "draw": {"kind": "normal"}}],
      "nodes": [{"name": "y", "op": "aten::tanh", "args": ["x"]}], "outputs": ["y"])");
  EXPECT_TRUE(known.expected.budgets[0].parts.empty());
  EXPECT_TRUE(known.expected.budgets[0].limits.empty());
  EXPECT_TRUE(surely_close(known.expected.reference[0], known.expected.reference[0], known.expected.budgets[0]));
}

TEST(HiddenNumbers, AreLookedAtInTimedCallsToo) {
  const Known known(masked_scores("-1000000000.0"));
  const at::Tensor &right = known.expected.reference[0], mask = known.leaves[2];
  EXPECT_TRUE(surely_close(right, right, known.expected.budgets[0]));
  EXPECT_FALSE(surely_close(at::where(mask, right, at::zeros_like(right)), right, known.expected.budgets[0]));
}

constexpr const char* column_offsets = R"(
    "inputs": [{"name": "x", "dtype": "f32", "shape": [256, 64], "draw": {"kind": "normal"}}], "weights": [
    {"name": "b", "dtype": "f32", "shape": [64], "draw": {"kind": "uniform", "low": 100000, "high": 9000000}}],
    "nodes": [{"name": "t", "op": "aten::tanh", "args": ["x"]},
    {"name": "y", "op": "aten::add.Tensor", "args": ["t", "b"]}], "outputs": ["y"])";

TEST(HiddenVariation, OfSomeColumnsIsFoundBesideLargerOnes) {
  const Known known(column_offsets);
  const at::Tensor &right = known.expected.reference[0], offsets = known.leaves[1].expand({256, 64});
  EXPECT_TRUE(known.compare(right).matches());
  EXPECT_FALSE(known.compare(offsets.contiguous()).matches());
  const OutputError some = known.compare(at::where(offsets.lt(4e6), offsets, right));
  EXPECT_FALSE(some.matches());
  EXPECT_TRUE(some.slice.is_rms);
  EXPECT_EQ(some.slice.dimension, 1);
  EXPECT_TRUE(surely_close(right, right, known.expected.budgets[0]));
  EXPECT_FALSE(surely_close(offsets.contiguous(), right, known.expected.budgets[0]));
}

TEST(HiddenVariation, IsNotAskedOfColumnsThatDoNotVary) {
  const Known known(R"("inputs": [{"name": "x", "dtype": "f32", "shape": [256, 32], "draw": {"kind": "normal"}}],
      "weights": [{"name": "b", "dtype": "f32", "shape": [256, 32], "draw": {"kind": "uniform", "low": 100000, "high": 9000000}}],
      "nodes": [{"name": "y", "op": "aten::cat", "args": [["x", "b"], 1]}], "outputs": ["y"])");
  EXPECT_TRUE(known.compare(known.expected.reference[0]).matches());
}

constexpr const char* written_norm = R"(
    "inputs": [{"name": "x", "dtype": "f32", "shape": [64, 1024], "draw": {"kind": "normal", "mean": 10}}], "nodes": [
    {"name": "m", "op": "aten::mean.dim", "args": ["x", [-1], true]},
    {"name": "d", "op": "aten::sub.Tensor", "args": ["x", "m"]},
    {"name": "q", "op": "aten::mul.Tensor", "args": ["d", "d"]},
    {"name": "v", "op": "aten::mean.dim", "args": ["q", [-1], true]},
    {"name": "e", "op": "aten::add.Tensor", "args": ["v", 1e-05]},
    {"name": "s", "op": "aten::rsqrt", "args": ["e"]},
    {"name": "y", "op": "aten::mul.Tensor", "args": ["d", "s"]}], "outputs": ["y"])";

//! Of every row, one term after the other in fp32: the mean and the mean square.
std::pair<at::Tensor, at::Tensor> sums_in_one_pass(const at::Tensor& rows) {
  const auto last = [](const at::Tensor& sums) { return sums.select(1, sums.size(1) - 1); };
  // A running sum is made from the first to the last.
  const auto count = static_cast<double>(rows.size(1));
  return {last(rows.cumsum(1)) / count, last(rows.square().cumsum(1)) / count};
}

TEST(OnePass, IsAllowedForAVarianceWrittenInNodes) {
  const Known known(written_norm);
  const at::Tensor& x = known.leaves[0];
  const auto [mean, squares] = sums_in_one_pass(x);
  const at::Tensor variance = (squares - mean * mean).clamp_min(0.0);
  const at::Tensor result = (x - mean.unsqueeze(1)) * (variance + 1e-5).rsqrt().unsqueeze(1);
  const OutputError error = known.compare(result);
  EXPECT_TRUE(error.matches()) << error.margin();
  EXPECT_FALSE(known.compare(result * 1.004).matches());
}

TEST(OnePass, IsSeenInTheNodesOfAVariance) {
  const Task task = with_metas(written_norm);
  int found = 0;
  for (const Node& node : task.graph.nodes)
    if (const auto variance = written_variance(task.graph, node)) {
      ++found;
      EXPECT_EQ(node.name, "v");
      EXPECT_EQ(task.graph.values[static_cast<std::size_t>(variance->argument)].name, "x");
      EXPECT_EQ(variance->dimensions, std::vector<std::int64_t>{-1});
      EXPECT_FALSE(variance->is_sum);
    }
  EXPECT_EQ(found, 1);
}

TEST(OnePass, IsSeenWhereTheMeanIsASumThatIsDivided) {
  const Task task = with_metas(R"(
      "inputs": [{"name": "x", "dtype": "f32", "shape": [8, 64], "draw": {"kind": "normal"}}], "nodes": [
      {"name": "s", "op": "aten::sum.dim_IntList", "args": ["x", [-1], true]},
      {"name": "m", "op": "aten::div.Scalar", "args": ["s", 64]},
      {"name": "d", "op": "aten::sub.Tensor", "args": ["m", "x"]},
      {"name": "q", "op": "aten::square", "args": ["d"]},
      {"name": "y", "op": "aten::sum.dim_IntList", "args": ["q", [-1]]}], "outputs": ["y"])");
  const auto variance = written_variance(task.graph, task.graph.nodes.back());
  ASSERT_TRUE(variance.has_value());
  EXPECT_EQ(task.graph.values[static_cast<std::size_t>(variance->argument)].name, "x");
  EXPECT_TRUE(variance->is_sum);
}

TEST(OnePass, IsAllowedWhereABiasCancelsWhatItScales) {
  const Known known(
      R"("inputs": [{"name": "x", "dtype": "f32", "shape": [256, 256], "draw": {"kind": "normal", "mean": 30}}],
      "weights": [{"name": "w", "dtype": "f32", "shape": [256], "draw": {"kind": "normal", "mean": 1, "std": 0.1}},
      {"name": "b", "dtype": "f32", "shape": [256], "draw": {"kind": "normal"}}],
      "nodes": [{"name": "y", "op": "aten::layer_norm", "args": ["x", [256], "w", "b", 1e-05, true]}],
      "outputs": ["y"])");
  const at::Tensor& x = known.leaves[0];
  const auto [mean, squares] = sums_in_one_pass(x);
  const at::Tensor scale = ((squares - mean * mean).clamp_min(0.0) + 1e-5).rsqrt().unsqueeze(1);
  const OutputError error = known.compare((x - mean.unsqueeze(1)) * scale * known.leaves[1] + known.leaves[2]);
  EXPECT_TRUE(error.matches()) << error.margin() << ", of the small ones " << error.part.share();
}

TEST(OnePass, IsNotSeenWhereAnotherMeanIsSubtracted) {
  const Task task = with_metas(R"(
      "inputs": [{"name": "x", "dtype": "f32", "shape": [8, 64], "draw": {"kind": "normal"}},
      {"name": "z", "dtype": "f32", "shape": [8, 64], "draw": {"kind": "normal"}}], "nodes": [
      {"name": "m", "op": "aten::mean.dim", "args": ["z", [-1], true]},
      {"name": "d", "op": "aten::sub.Tensor", "args": ["x", "m"]},
      {"name": "q", "op": "aten::square", "args": ["d"]},
      {"name": "y", "op": "aten::mean.dim", "args": ["q", [-1]]}], "outputs": ["y"])");
  for (const Node& node : task.graph.nodes) EXPECT_FALSE(written_variance(task.graph, node)) << node.name;
}

TEST(OnePass, IsAllowedForARunningVariance) {
  const Known known(R"(
      "inputs": [{"name": "x", "dtype": "f32", "shape": [2048, 32], "draw": {"kind": "normal", "mean": 10}}],
      "state": [{"name": "rm", "dtype": "f32", "shape": [32], "draw": {"kind": "normal"}},
      {"name": "rv", "dtype": "f32", "shape": [32], "draw": {"kind": "uniform", "low": 0.5, "high": 1.5}}], "nodes": [
      {"name": "y", "op": "aten::batch_norm", "args": ["x", null, null, "rm", "rv", true, 0.1, 1e-05, true],
       "writes_state": ["rm", "rv"]}], "outputs": ["y"])");
  const auto [mean, squares] = sums_in_one_pass(known.leaves[0].t().contiguous());
  const at::Tensor variance = (squares - mean * mean) * (2048.0 / 2047.0);
  const OutputError error = known.compare(0.9 + 0.1 * variance, 2);
  EXPECT_TRUE(error.matches()) << error.margin();
  EXPECT_FALSE(known.compare(0.9 + 0.101 * variance, 2).matches());
}

//! One step of Strassen's algorithm in fp32.
at::Tensor strassen(const at::Tensor& a, const at::Tensor& b) {
  const auto quarter = [](const at::Tensor& m, int i, int j) { return m.chunk(2, 0)[i].chunk(2, 1)[j]; };
  const auto a11 = quarter(a, 0, 0), a12 = quarter(a, 0, 1), a21 = quarter(a, 1, 0), a22 = quarter(a, 1, 1);
  const auto b11 = quarter(b, 0, 0), b12 = quarter(b, 0, 1), b21 = quarter(b, 1, 0), b22 = quarter(b, 1, 1);
  const auto m1 = (a11 + a22).mm(b11 + b22), m2 = (a21 + a22).mm(b11), m3 = a11.mm(b12 - b22), m4 = a22.mm(b21 - b11),
             m5 = (a11 + a12).mm(b22), m6 = (a21 - a11).mm(b11 + b12), m7 = (a12 - a22).mm(b21 + b22);
  return at::cat({at::cat({m1 + m4 - m5 + m7, m3 + m5}, 1), at::cat({m2 + m4, m1 - m2 + m3 + m6}, 1)}, 0);
}

TEST(FastProducts, MayLoseWhatSpikesCostThatDoNotMeetInTheResult) {
  const Task task = with_metas(R"(
      "inputs": [{"name": "a", "dtype": "f32", "shape": [64, 64], "draw": {"kind": "normal"}},
      {"name": "b", "dtype": "f32", "shape": [64, 64], "draw": {"kind": "normal"}}],
      "nodes": [{"name": "y", "op": "aten::mm", "args": ["a", "b"]}], "outputs": ["y"])");
  const MatchRule rule(task, at::kCPU, PrecisionPolicy::strict);
  TensorTable leaves;
  draw_inputs(task, Distribution::native, 2, at::kCPU, leaves);
  // They meet in the product of (a11 + a22) and (b11 + b22) only.
  leaves[0][0][0] = 500.0;
  leaves[1][32][37] = 500.0;
  const Expected expected = rule.expect(leaves, Distribution::spiked, 3);
  const auto compare = [&](const at::Tensor& result) {
    return rule.compare(expected, {result}, Distribution::spiked).at(0);
  };
  EXPECT_TRUE(compare(strassen(leaves[0], leaves[1])).matches()) << compare(strassen(leaves[0], leaves[1])).margin();
  const auto rounded = [](const at::Tensor& m) { return m.to(at::kBFloat16).to(at::kFloat); };
  EXPECT_FALSE(compare(rounded(leaves[0]).mm(rounded(leaves[1]))).matches());
}

}  // namespace
}  // namespace cudal1
