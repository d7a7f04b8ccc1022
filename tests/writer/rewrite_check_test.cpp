// Which rewrites a graph allows, and that they work together.
#include "writer/rewrite_check.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "meta_check.hpp"

namespace cudal1::testing {
namespace {

using Lines = std::vector<std::string>;

class Rewrites : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_device(); !why.empty()) GTEST_SKIP() << why;
  }
};

//! conv, batch norm in evaluation, relu, a mean over the image, two linear layers, a scale; some of it twice.
TaskText classifier(const char* dtype = "f32") {
  const nlohmann::json of = {{"dtype", dtype}};
  nlohmann::json positive = {{"draw", {{"kind", "uniform"}, {"low", 0.5}, {"high", 2.0}}}};
  positive.update(of);
  TaskText task;
  task.input("x", {2, 3, 7, 5}, of).weight("w", {4, 3, 3, 3}, of).weight("b", {4}, of).weight("gamma", {4}, of);
  task.weight("beta", {4}, of).weight("mean", {4}, of).weight("var", {4}, positive);
  task.weight("w1", {9, 4}, of).weight("b1", {9}, of).weight("w2", {3, 9}, of).weight("scale", {3}, of);
  task.node("conv2d_1", "aten::conv2d", {"x", "w", "b"});
  task.node("batch_norm_1", "aten::batch_norm", {"conv2d_1", "gamma", "beta", "mean", "var", false, 0.1, 1e-5, true});
  task.node("relu_1", "aten::relu", {"batch_norm_1"}).node("clone_1", "aten::clone", {"relu_1"});
  task.node("mean_1", "aten::mean.dim", {"clone_1", {2, 3}}).node("linear_1", "aten::linear", {"mean_1", "w1", "b1"});
  task.node("linear_2", "aten::linear", {"linear_1", "w2"}).node("exp_1", "aten::exp", {"scale"});
  task.node("exp_2", "aten::exp", {"scale"}).node("mul_1", "aten::mul.Tensor", {"linear_2", "exp_1"});
  task.node("sub_1", "aten::sub.Tensor", {"mul_1", "exp_2"}).output("sub_1");
  return task;
}

TEST_F(Rewrites, AreFoundInAGraph) {
  EXPECT_EQ(possible_rewrites(graph_of(classifier())),
            (Lines{"drop *", "share *", "hoist *", "fold batch_norm_1 into conv2d_1", "fold mul_1 into linear_2",
                   "merge linear_2 into linear_1", "layout * channels_last", "split conv*"}));
}

TEST_F(Rewrites, AreFoundBehindOthers) {
  const Lines lines = possible_rewrites(graph_of(classifier()), "//! fold mul_1 into linear_2\n//! fuse relu_1\n");
  EXPECT_EQ(std::ranges::count(lines, "fold sub_1 into linear_2"), 1);
  EXPECT_EQ(std::ranges::count(lines, "fold batch_norm_1 into conv2d_1"), 0);  // the kernel of relu_1 reads it
}

//! Whatever is possible, one behind the other until nothing is.
TEST_F(Rewrites, WorkTogether) {
  const OpGraph graph = graph_of(classifier());
  std::string text;
  for (Lines lines = possible_rewrites(graph); !lines.empty(); lines = possible_rewrites(graph, text)) {
    ASSERT_LT(text.size(), 2000u) << text;
    text += "//! " + lines.front() + "\n";
  }
  const Verdict verdict = judged(classifier(), text);
  EXPECT_EQ(verdict.status, "ok") << verdict.message << text << verdict.code;
  EXPECT_EQ(wrong_metas(classifier(), text), Lines{}) << text;
  EXPECT_EQ(std::ranges::count(verdict.steps, "op batch_norm_1"), 0) << text;
}

TEST_F(Rewrites, AreRightEachForItself) {
  for (const char* dtype : {"f32", "bf16"})
    for (const std::string& line : possible_rewrites(graph_of(classifier(dtype)))) {
      const std::string program = "//! " + line + "\n";
      EXPECT_RIGHT(classifier(dtype), program);
    }
}

TEST_F(Rewrites, DoNotFoldHalfPrecision) {
  EXPECT_REFUSED(classifier("bf16"), "//! fold batch_norm_1 into conv2d_1\n", "only fp32 weights are folded");
  EXPECT_REFUSED(classifier("f16"), "//! merge linear_2 into linear_1\n", "only fp32 weights are merged");
}

}  // namespace
}  // namespace cudal1::testing
