// `fold`: scales and shifts of channels go into weights.
#include <gtest/gtest.h>

#include "meta_check.hpp"

namespace cudal1::testing {
namespace {

using Steps = std::vector<std::string>;

class Fold : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_device(); !why.empty()) GTEST_SKIP() << why;
  }
};

const nlohmann::json positive = {{"draw", {{"kind", "uniform"}, {"low", 0.5}, {"high", 2.0}}}};

//! Without a bias where `bias` is null.
TaskText conv_batch_norm(const nlohmann::json& bias, bool training = false, bool statistics_are_state = false) {
  TaskText task;
  task.input("x", {2, 3, 7, 5}).weight("weight", {5, 3, 3, 3}).weight("bias", {5});
  task.weight("gamma", {5}).weight("beta", {5});
  if (statistics_are_state)
    task.state("mean", {5}).state("var", {5}, positive);
  else
    task.weight("mean", {5}).weight("var", {5}, positive);
  task.node("conv2d_1", "aten::conv2d", {"x", "weight", bias, {1, 1}, {1, 1}});
  task.node("batch_norm_1", "aten::batch_norm", {"conv2d_1", "gamma", "beta", "mean", "var", training, 0.1, 1e-5, true},
            training && statistics_are_state ? nlohmann::json{{"writes_state", {"mean", "var"}}} : nlohmann::json{});
  task.node("relu_1", "aten::relu", {"batch_norm_1"}).output("relu_1");
  return task;
}

//! conv or linear, then the node in question, then tanh.
TaskText linear_and(const std::string& op, const nlohmann::json& by, const std::vector<std::int64_t>& shape = {7}) {
  TaskText task;
  task.input("x", {4, 3}).weight("w", {7, 3}).weight("b", {7}).weight("v", shape, positive);
  task.node("linear_1", "aten::linear", {"x", "w", "b"}).node("node_1", op, {"linear_1", by});
  task.node("tanh_1", "aten::tanh", {"node_1"}).output("tanh_1");
  return task;
}

TaskText conv_mean() {
  TaskText task;
  task.input("x", {2, 3, 5, 4}).weight("w", {6, 3, 2, 2}).node("conv2d_1", "aten::conv2d", {"x", "w"});
  return task.node("mean_1", "aten::mean.dim", {"conv2d_1", {1}, false}).output("mean_1");
}

TEST_F(Fold, PutsBatchNormIntoAConvolution) {
  for (const nlohmann::json& bias : {nlohmann::json("bias"), nlohmann::json(nullptr)}) {
    const Verdict verdict = judged(conv_batch_norm(bias), "//! fold batch_norm_1 into conv2d_1\n");
    EXPECT_EQ(verdict.status, "ok") << verdict.message;
    EXPECT_EQ(verdict.steps, (Steps{"op conv2d_1", "op relu_1"}));
    EXPECT_EQ(wrong_metas(conv_batch_norm(bias), "//! fold batch_norm_1 into conv2d_1\n"), Steps{});
  }
}

TEST_F(Fold, IsFollowedBySplitAndFuse) {
  const Verdict verdict = judged(conv_batch_norm("bias"),
                                 "//! fold batch_norm_1 into conv2d_1\n//! split conv2d_1\n"
                                 "//! fuse conv2d_1_bias relu_1\n");
  EXPECT_EQ(verdict.status, "ok") << verdict.message;
  EXPECT_EQ(verdict.steps, (Steps{"op conv2d_1", "launch fuse_relu_1"}));
}

TEST_F(Fold, PutsArithmeticIntoALinearLayer) {
  for (const char* op : {"aten::mul.Tensor", "aten::div.Tensor", "aten::add.Tensor", "aten::sub.Tensor"})
    for (const nlohmann::json& by : {nlohmann::json("v"), nlohmann::json(0.5)}) {
      const Verdict verdict = judged(linear_and(op, by), "//! fold node_1 into linear_1\n");
      EXPECT_EQ(verdict.status, "ok") << op << verdict.message;
      EXPECT_EQ(verdict.steps, (Steps{"op linear_1", "op tanh_1"}));
    }
  EXPECT_RIGHT(linear_and("aten::mul.Tensor", "v", {1}), "//! fold node_1 into linear_1\n");
  EXPECT_RIGHT(linear_and("aten::add.Tensor", "v", {1, 7}), "//! fold node_1 into linear_1\n");
}

TEST_F(Fold, PutsAScaleThatComesBeforeIntoTheWeight) {
  for (const nlohmann::json& by : {nlohmann::json("v"), nlohmann::json(-3.0)}) {
    TaskText task;
    task.input("x", {4, 3}).weight("w", {7, 3}).weight("v", {3}, positive).node("mul_1", "aten::mul.Tensor", {"x", by});
    task.node("linear_1", "aten::linear", {"mul_1", "w"}).output("linear_1");
    const Verdict verdict = judged(task, "//! fold mul_1 into linear_1\n");
    EXPECT_EQ(verdict.status, "ok") << verdict.message;
    EXPECT_EQ(verdict.steps, Steps{"op linear_1"});
  }
}

TEST_F(Fold, KnowsWhereTransposedConvolutionsHaveTheirChannels) {
  for (const int groups : {1, 2}) {
    TaskText task;
    task.input("x", {1, 4, 5}).weight("w", {4, 3, 2}).weight("v", {3 * groups, 1}, positive);
    task.node("conv_1", "aten::conv_transpose1d", {"x", "w", nullptr, {1}, {0}, {0}, groups});
    task.node("mul_1", "aten::mul.Tensor", {"conv_1", "v"}).node("add_1", "aten::add.Tensor", {"mul_1", 2.0});
    task.output("add_1");
    if (groups == 1)
      EXPECT_RIGHT(task, "//! fold mul_1 into conv_1\n//! fold add_1 into conv_1\n");
    else
      EXPECT_REFUSED(task, "//! fold mul_1 into conv_1\n", "two dimensions");
  }
}

TEST_F(Fold, MakesOneChannelOfASumOrMeanOverAll) {
  for (const char* op : {"aten::sum.dim_IntList", "aten::mean.dim"})
    for (const bool keep : {true, false}) {
      TaskText task;
      task.input("x", {4, 3}).weight("w", {7, 3}).weight("b", {7}).node("linear_1", "aten::linear", {"x", "w", "b"});
      task.node("sum_1", op, {"linear_1", {-1}, keep}).node("exp_1", "aten::tanh", {"sum_1"}).output("exp_1");
      const Verdict verdict = judged(task, "//! fold sum_1 into linear_1\n");
      EXPECT_EQ(verdict.status, "ok") << verdict.message;
      EXPECT_EQ(verdict.steps, (Steps{"op linear_1", "op exp_1"}));
      EXPECT_EQ(wrong_metas(task, "//! fold sum_1 into linear_1\n"), Steps{});
      EXPECT_REFUSED(task.output("linear_1"), "//! fold sum_1 into linear_1\n", "the task returns");
    }
  TaskText task;
  task.input("x", {2, 3, 5, 4}).weight("w", {6, 3, 2, 2}).node("conv2d_1", "aten::conv2d", {"x", "w"});
  task.node("mean_1", "aten::mean.dim", {"conv2d_1", {1}, false}).node("mean_2", "aten::mean.dim", {"conv2d_1", {2}});
  EXPECT_REFUSED(task.output("mean_1").output("mean_2"), "//! fold mean_2 into conv2d_1\n", "reads 'conv2d_1', too");
  EXPECT_RIGHT(conv_mean(), "//! fold mean_1 into conv2d_1\n");
}

struct LinearSizes {
  std::int64_t rows, in, out;
};

//! x · wᵀ · v + b · v
TaskText scaled_linear(const LinearSizes& sizes, const nlohmann::json& of_input = {},
                       const nlohmann::json& of_weight = {}, const nlohmann::json& of_scale = positive) {
  TaskText task;
  task.input("x", {sizes.rows, sizes.in}, of_input).weight("w", {sizes.out, sizes.in}, of_weight);
  task.weight("b", {sizes.out}).weight("v", {sizes.out}, of_scale).node("linear_1", "aten::linear", {"x", "w", "b"});
  return task.node("mul_1", "aten::mul.Tensor", {"linear_1", "v"}).output("mul_1");
}

const std::string into_linear = "//! fold mul_1 into linear_1\n";

TEST_F(Fold, IsRightForOddSizesAndWithoutElements) {
  for (const LinearSizes& sizes : {LinearSizes{1, 1, 1}, {13, 31, 17}, {0, 3, 4}, {3, 0, 4}, {3, 4, 0}}) {
    EXPECT_RIGHT(scaled_linear(sizes), into_linear);
    EXPECT_EQ(wrong_metas(scaled_linear(sizes), into_linear), Steps{});
  }
  TaskText nothing;
  nothing.input("x", {0, 3, 7, 5}).weight("w", {1, 3, 3, 1}).weight("v", {1, 1}, positive);
  nothing.node("conv_1", "aten::conv2d", {"x", "w"}).node("mul_1", "aten::mul.Tensor", {"conv_1", "v"});
  EXPECT_RIGHT(nothing.output("mul_1"), "//! fold mul_1 into conv_1\n");
}

TEST_F(Fold, IsRightForStridedInputsAndWeights) {
  for (const auto& strides : std::vector<std::vector<std::int64_t>>{{1, 9}, {20, 2}}) {
    const nlohmann::json apart = {{"strides", strides}};
    EXPECT_RIGHT(scaled_linear({4, 5, 7}, apart, apart), into_linear);
    EXPECT_EQ(wrong_metas(scaled_linear({4, 5, 7}, apart), into_linear), Steps{});
  }
  nlohmann::json every_third = positive;
  every_third["strides"] = {3};
  EXPECT_REFUSED(scaled_linear({4, 5, 7}, {}, {}, every_third), into_linear, "'v' is not contiguous");
  TaskText task;
  task.input("x", {2, 3, 7, 5}, {{"strides", {300, 80, 11, 2}}});
  task.weight("w", {5, 3, 3, 3}, {{"strides", {27, 1, 9, 3}}}).weight("v", {5, 1, 1}, positive);
  task.node("conv_1", "aten::conv2d", {"x", "w"}).node("mul_1", "aten::mul.Tensor", {"conv_1", "v"});
  EXPECT_RIGHT(task.output("mul_1"), "//! fold mul_1 into conv_1\n");
}

TEST_F(Fold, UsesWeightsThatAreComputedLaterInTheModule) {
  TaskText task;
  task.input("x", {4, 3}).weight("w", {7, 3}).weight("v", {7}).node("linear_1", "aten::linear", {"x", "w"});
  task.node("exp_1", "aten::exp", {"v"}).node("mul_1", "aten::mul.Tensor", {"linear_1", "exp_1"}).output("mul_1");
  EXPECT_RIGHT(task, "//! fold mul_1 into linear_1\n");
  EXPECT_EQ(wrong_metas(task, "//! fold mul_1 into linear_1\n"), Steps{});
}

TEST_F(Fold, RefusesStatisticsOfTheBatchAndOfStates) {
  EXPECT_REFUSED(conv_batch_norm("bias", true, true), "//! fold batch_norm_1 into conv2d_1\n", "it is in training");
  EXPECT_REFUSED(conv_batch_norm("bias", false, true), "//! fold batch_norm_1 into conv2d_1\n", "'mean' is a state");
}

TEST_F(Fold, RefusesWhatIsNoScaleOfChannels) {
  EXPECT_REFUSED(linear_and("aten::mul.Tensor", "v", {4, 7}), "//! fold node_1 into linear_1\n", "not one number for");
  EXPECT_REFUSED(conv_batch_norm("bias"), "//! fold relu_1 into conv2d_1\n", "neither of them reads");
  EXPECT_REFUSED(conv_batch_norm("bias"), "//! fold batch_norm_1 into relu_1\n", "no convolution or linear layer");
  EXPECT_REFUSED(conv_batch_norm("bias"), "//! fold batch_norm_1 in conv2d_1\n", "expected 'into'");
  EXPECT_REFUSED(conv_batch_norm("bias"), "//! fuse relu_1\n//! fold batch_norm_1 into conv2d_1\n", "replaced already");
  EXPECT_REFUSED(conv_batch_norm("bias"), "//! fuse batch_norm_1 relu_1\n//! fold batch_norm_1 into conv2d_1\n",
                 "is replaced already, by 'fuse' in line 1");
  TaskText twice = conv_batch_norm("bias");
  EXPECT_REFUSED(twice.output("conv2d_1"), "//! fold batch_norm_1 into conv2d_1\n", "the task returns");
}

TEST_F(Fold, RefusesALinearMapWhoseWeightIsAVector) {
  TaskText task;
  task.input("x", {3, 4, 5}).weight("w", {5}).node("linear_1", "aten::linear", {"x", "w"});
  task.node("sum_1", "aten::sum.dim_IntList", {"linear_1", nlohmann::json::array({1})}).output("sum_1");
  EXPECT_REFUSED(task, "//! fold sum_1 into linear_1\n", "no matrix");
}

}  // namespace
}  // namespace cudal1::testing
