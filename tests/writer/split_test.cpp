// `split`: the bias of a convolution or a linear map as a node of its own.
#include <gtest/gtest.h>

#include "meta_check.hpp"

namespace cudal1::testing {
namespace {

using Steps = std::vector<std::string>;

class Split : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_device(); !why.empty()) GTEST_SKIP() << why;
  }
};

TaskText conv_relu(const nlohmann::json& of_input = {}) {
  TaskText task;
  task.input("x", {2, 3, 7, 5}, of_input).weight("weight", {5, 3, 3, 3}).weight("bias", {5});
  task.node("conv2d_1", "aten::conv2d", {"x", "weight", "bias", {1, 1}, {1, 1}});
  task.node("relu_1", "aten::relu", {"conv2d_1"}).output("relu_1");
  return task;
}

TaskText linear_gelu(std::vector<std::int64_t> shape, std::int64_t out, const nlohmann::json& of_input = {},
                     const nlohmann::json& of_weight = {}, const nlohmann::json& of_bias = {}) {
  TaskText task;
  task.input("x", shape, of_input).weight("fc.weight", {out, shape.back()}, of_weight);
  task.weight("fc.bias", {out}, of_bias);
  task.node("linear_1", "aten::linear", {"x", "fc.weight", "fc.bias"});
  task.node("gelu_1", "aten::gelu", {"linear_1"}).output("gelu_1");
  return task;
}

TEST_F(Split, LetsTheBiasBeFusedWithWhatFollows) {
  const Verdict verdict = judged(conv_relu(), "//! split conv2d_1\n//! fuse conv2d_1_bias relu_1\n");
  EXPECT_EQ(verdict.status, "ok") << verdict.message;
  EXPECT_EQ(verdict.steps, (Steps{"op conv2d_1", "launch fuse_relu_1"}));
  EXPECT_EQ(verdict.techniques, (Steps{"split", "pointwise"}));
}

TEST_F(Split, IsRightWhereNothingIsFused) {
  EXPECT_RIGHT(conv_relu(), "//! split conv2d_1\n");
  EXPECT_EQ(planned(conv_relu(), "//! split conv2d_*\n").steps,
            (Steps{"op conv2d_1", "op conv2d_1_bias", "op relu_1"}));
}

TEST_F(Split, KeepsTheLayoutOfTheConvolution) {
  const nlohmann::json channels_last = {{"strides", {105, 1, 15, 3}}};
  EXPECT_RIGHT(conv_relu(channels_last), "//! split conv2d_1\n//! fuse conv2d_1_bias relu_1\n");
  EXPECT_EQ(wrong_metas(conv_relu(channels_last), "//! split conv2d_1\n"), Steps{});
  EXPECT_EQ(wrong_metas(conv_relu(), "//! split conv2d_1\n"), Steps{});
}

TEST_F(Split, IsRightForLinearMapsOfOddSizes) {
  for (const auto& shape : std::vector<std::vector<std::int64_t>>{{1, 1}, {13, 7}, {2, 3, 5}, {0, 4}}) {
    EXPECT_RIGHT(linear_gelu(shape, 7), "//! split linear_1\n//! fuse linear_1_bias gelu_1\n");
    EXPECT_EQ(wrong_metas(linear_gelu(shape, 7), "//! split linear_1\n"), Steps{});
  }
}

TEST_F(Split, IsRightWithoutElements) {
  const std::string fused = "//! split linear_1\n//! fuse linear_1_bias gelu_1\n";
  EXPECT_RIGHT(linear_gelu({3, 0}, 7), fused);
  EXPECT_RIGHT(linear_gelu({3, 5}, 0), fused);
  EXPECT_RIGHT(linear_gelu({2, 0, 5}, 7), "//! split linear_1\n");
  TaskText task;
  task.input("x", {0, 3, 7, 5}).weight("w", {5, 3, 3, 3}).weight("b", {5});
  task.node("conv2d_1", "aten::conv2d", {"x", "w", "b"}).node("relu_1", "aten::relu", {"conv2d_1"}).output("relu_1");
  EXPECT_RIGHT(task, "//! split conv2d_1\n//! fuse conv2d_1_bias relu_1\n");
}

TEST_F(Split, IsRightForStridedOperands) {
  for (const auto& strides : std::vector<std::vector<std::int64_t>>{{1, 13}, {20, 2}}) {
    const TaskText task = linear_gelu({13, 7}, 5, {{"strides", strides}}, {{"strides", {1, 6}}}, {{"strides", {3}}});
    EXPECT_RIGHT(task, "//! split linear_1\n");
    EXPECT_RIGHT(task, "//! split linear_1\n//! fuse linear_1_bias gelu_1\n");
    EXPECT_EQ(wrong_metas(task, "//! split linear_1\n"), Steps{});
  }
  EXPECT_RIGHT(conv_relu({{"strides", {300, 80, 11, 2}}}), "//! split conv2d_1\n//! fuse conv2d_1_bias relu_1\n");
}

TEST_F(Split, IsRightForEveryKindOfConvolution) {
  struct Kind {
    const char* op;
    std::vector<std::int64_t> input, weight;
    std::int64_t channels;
  };
  for (const Kind& kind : {Kind{"aten::conv1d", {2, 3, 9}, {4, 3, 2}, 4},
                           {"aten::conv3d", {1, 2, 4, 3, 5}, {3, 2, 2, 2, 2}, 3},
                           {"aten::conv_transpose1d", {2, 3, 9}, {3, 4, 2}, 4},
                           {"aten::conv_transpose2d.input", {2, 3, 4, 5}, {3, 2, 2, 2}, 2}}) {
    TaskText task;
    task.input("x", kind.input).weight("w", kind.weight).weight("b", {kind.channels});
    task.node("convolution_1", kind.op, {"x", "w", "b"}).node("tanh_1", "aten::tanh", {"convolution_1"});
    task.output("tanh_1");
    EXPECT_RIGHT(task, "//! split convolution_1\n//! fuse convolution_1_bias tanh_1\n");
    EXPECT_EQ(wrong_metas(task, "//! split convolution_1\n"), Steps{});
  }
}

TEST_F(Split, IsRightForProductsWithASum) {
  for (const nlohmann::json& kwargs :
       {nlohmann::json::object(), nlohmann::json{{"beta", 0.5}}, nlohmann::json{{"alpha", -2.0}}}) {
    TaskText task;
    task.input("x", {5, 3}).weight("w", {3, 7}).weight("b", {7});
    task.node("addmm_1", "aten::addmm", {"b", "x", "w"}, {{"kwargs", kwargs}}).output("addmm_1");
    EXPECT_RIGHT(task, "//! split addmm_1\n");
    EXPECT_EQ(planned(task, "//! split addmm_1\n").steps, (Steps{"op addmm_1", "op addmm_1_bias"}));
  }
}

TEST_F(Split, ServesViewsAndTheTasksOutputs) {
  TaskText task;
  task.input("x", {4, 6}).weight("w", {5, 6}).weight("b", {5}).node("linear_1", "aten::linear", {"x", "w", "b"});
  task.node("t_1", "aten::t", {"linear_1"}).node("exp_1", "aten::exp", {"t_1"}).output("linear_1").output("exp_1");
  task.output("t_1");
  EXPECT_RIGHT(task, "//! split linear_1\n//! fuse exp_1\n");
  EXPECT_EQ(wrong_metas(task, "//! split linear_1\n"), Steps{});
}

TEST_F(Split, RefusesWhatHasNoBiasToSplit) {
  EXPECT_REFUSED(conv_relu(), "//! split relu_1\n", "aten::relu adds no bias");
  EXPECT_REFUSED(conv_relu(), "\n//! split conv2d_1\n//! split conv2d_1\n", "it has no bias");
  EXPECT_REFUSED(conv_relu(), "//! split conv2d_1 : fast=1\n", "expected the end of the 'split' line");
  EXPECT_REFUSED(conv_relu(), "//! split\n", "expected the names of nodes");
  EXPECT_REFUSED(conv_relu(), "//! split conv2d_1 conv2d_1\n", "listed twice");
}

TEST_F(Split, RefusesToRoundHalfPrecisionTwice) {
  TaskText task;
  const nlohmann::json half = {{"dtype", "f16"}};
  task.input("x", {4, 6}, half).weight("w", {5, 6}, half).weight("b", {5}, half);
  task.node("linear_1", "aten::linear", {"x", "w", "b"}).output("linear_1");
  EXPECT_REFUSED(task, "//! split linear_1\n", "rounded once more");
}

TEST_F(Split, RefusesWhatALineAboveHasReplaced) {
  EXPECT_REFUSED(conv_relu(), "//! fuse relu_1\n//! split conv2d_1\n", "is replaced already, by 'fuse' in line 1");
  const std::string kernel = "//! kernel k replaces conv2d_1 : grid=1 block=1 args=(x, conv2d_1)\n";
  EXPECT_REFUSED(conv_relu(), kernel + "//! split conv2d_1\n", "is replaced already, by 'k' in line 1");
}

TEST_F(Split, RefusesIntegers) {
  const nlohmann::json whole = {{"dtype", "i64"}, {"draw", {{"kind", "integers"}, {"low", -9}, {"high", 9}}}};
  TaskText task;
  task.input("c", {4, 6}, whole).input("x", {4, 5}, whole).input("a", {5, 6}, whole);
  task.node("addmm_1", "aten::addmm", {"c", "x", "a"}, {{"kwargs", {{"beta", 2}}}}).output("addmm_1");
  EXPECT_REFUSED(task, "//! split addmm_1\n", "no floating-point tensor");
}

}  // namespace
}  // namespace cudal1::testing
