// `layout … channels_last`: convolutions and what lies between them with their channels innermost.
#include <gtest/gtest.h>

#include "meta_check.hpp"

namespace cudal1::testing {
namespace {

using Steps = std::vector<std::string>;

class Layout : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_device(); !why.empty()) GTEST_SKIP() << why;
  }
};

//! conv, relu, max pool, conv, add of what the pool gave
TaskText two_convolutions(std::int64_t batch = 2, std::int64_t height = 7, std::int64_t width = 5,
                          const nlohmann::json& of_input = {}, const nlohmann::json& of_weight = {}) {
  TaskText task;
  task.input("x", {batch, 3, height, width}, of_input).weight("w1", {6, 3, 3, 3}, of_weight).weight("b1", {6});
  task.weight("w2", {6, 6, 3, 3});
  task.node("conv2d_1", "aten::conv2d", {"x", "w1", "b1", {1, 1}, {1, 1}}).node("relu_1", "aten::relu", {"conv2d_1"});
  task.node("max_pool2d_1", "aten::max_pool2d", {"relu_1", {2, 2}, {1, 1}, {1, 1}});
  task.node("conv2d_2", "aten::conv2d", {"max_pool2d_1", "w2", nullptr, {1, 1}, {1, 1}});
  task.node("add_1", "aten::add.Tensor", {"conv2d_2", "max_pool2d_1"}).output("add_1");
  return task;
}

TEST_F(Layout, ConvertsOneConvolutionAndBack) {
  const Verdict verdict = judged(two_convolutions(), "//! layout conv2d_1 channels_last\n");
  EXPECT_EQ(verdict.status, "ok") << verdict.message;
  EXPECT_EQ(verdict.prepared, Steps{"op conv2d_1_packed_weight"});
  EXPECT_EQ(verdict.steps, (Steps{"op conv2d_1_input", "op conv2d_1", "op conv2d_1_contiguous", "op relu_1",
                                  "op max_pool2d_1", "op conv2d_2", "op add_1"}));
  EXPECT_EQ(wrong_metas(two_convolutions(), "//! layout conv2d_1 channels_last\n"), Steps{});
}

TEST_F(Layout, StaysInTheLayoutThroughAChain) {
  const std::string all = "//! layout conv2d_* relu_1 max_pool2d_1 add_1 channels_last\n";
  const Verdict verdict = judged(two_convolutions(), all);
  EXPECT_EQ(verdict.status, "ok") << verdict.message;
  EXPECT_EQ(verdict.steps, (Steps{"op conv2d_1_input", "op conv2d_1", "op relu_1", "op max_pool2d_1", "op conv2d_2",
                                  "op add_1", "op add_1_contiguous"}));
  EXPECT_EQ(wrong_metas(two_convolutions(), all), Steps{});
}

TEST_F(Layout, LeavesOutWhatAPatternChoosesInVain) {
  TaskText task;
  task.input("x", {1, 3, 4, 5}).weight("w", {4, 3, 3, 3}).node("exp_1", "aten::exp", {"x"});
  task.node("conv2d_1", "aten::conv2d", {"exp_1", "w"}).node("tanh_1", "aten::tanh", {"conv2d_1"}).output("tanh_1");
  EXPECT_EQ(planned(task, "//! layout * channels_last\n").steps,
            (Steps{"op exp_1", "op conv2d_1_input", "op conv2d_1", "op tanh_1", "op tanh_1_contiguous"}));
}

TEST_F(Layout, CanBeSaidInSeveralLines) {
  const std::string lines =
      "//! layout conv2d_1 channels_last\n//! layout relu_1 max_pool2d_1 channels_last\n"
      "//! layout conv2d_2 channels_last\n";
  EXPECT_RIGHT(two_convolutions(), lines);
  EXPECT_EQ(wrong_metas(two_convolutions(), lines), Steps{});
}

TEST_F(Layout, IsRightForOddSizes) {
  const std::string all = "//! layout conv2d_* relu_1 max_pool2d_1 add_1 channels_last\n";
  for (const auto& [batch, height, width] : {std::tuple{1, 1, 2}, {1, 13, 1}, {3, 4, 11}})
    EXPECT_RIGHT(two_convolutions(batch, height, width), all);
}

const std::string first_two = "//! layout conv2d_1 relu_1 max_pool2d_1 channels_last\n";

//! Rows and pixels with gaps between them, and images on their sides.
TEST_F(Layout, IsRightForStridedInputsAndWeights) {
  const std::vector<std::vector<std::int64_t>> of_inputs = {{300, 80, 11, 2}, {105, 35, 1, 7}};
  for (const auto& strides : of_inputs) {
    const TaskText task = two_convolutions(2, 7, 5, {{"strides", strides}});
    EXPECT_RIGHT(task, first_two);
    EXPECT_RIGHT(task, first_two + "//! fuse conv2d_1_input\n");
    EXPECT_EQ(wrong_metas(task, first_two), Steps{});
  }
  const TaskText turned = two_convolutions(2, 7, 5, {}, {{"strides", {1, 6, 54, 18}}});
  EXPECT_RIGHT(turned, first_two);
  EXPECT_EQ(wrong_metas(turned, first_two), Steps{});
}

//! PyTorch stays in the layout of such an input by itself.
TEST_F(Layout, LeavesAloneWhatIsChannelsLastAlready) {
  for (const auto& strides : std::vector<std::vector<std::int64_t>>{{105, 1, 15, 3}, {200, 1, 25, 5}}) {
    const TaskText task = two_convolutions(2, 7, 5, {{"strides", strides}});
    EXPECT_REFUSED(task, "//! layout conv2d_1 channels_last\n", "channels_last already");
  }
}

TEST_F(Layout, RefusesEmptyBatches) {
  const TaskText empty = two_convolutions(0);
  EXPECT_REFUSED(empty, "//! layout conv2d_1 channels_last\n", "its result is empty");
  EXPECT_REFUSED(empty, "//! layout * channels_last\n", "");
  EXPECT_RIGHT(empty, "//! fuse relu_1\n");
}

TEST_F(Layout, FusesCopiesAndEverythingBetween) {
  const std::string program =
      "//! split conv2d_1\n//! layout conv2d_1 conv2d_1_bias relu_1 max_pool2d_1 conv2d_2 add_1 channels_last\n"
      "//! fuse conv2d_1_input\n//! fuse conv2d_1_bias relu_1\n//! fuse add_1 add_1_contiguous\n";
  const Verdict verdict = judged(two_convolutions(), program);
  EXPECT_EQ(verdict.status, "ok") << verdict.message << verdict.code;
  EXPECT_EQ(verdict.steps, (Steps{"launch fuse_conv2d_1_input", "op conv2d_1", "launch fuse_relu_1", "op max_pool2d_1",
                                  "op conv2d_2", "launch fuse_add_1_contiguous"}));
}

TEST_F(Layout, WorksInThreeDimensionsWithBatchNormAndViews) {
  TaskText task;
  task.input("x", {2, 3, 4, 3, 5}).weight("w", {4, 3, 2, 2, 2}).weight("gamma", {4}).weight("beta", {4});
  task.state("mean", {4}).state("var", {4}, {{"draw", {{"kind", "uniform"}, {"low", 0.5}, {"high", 2.0}}}});
  task.node("conv3d_1", "aten::conv3d", {"x", "w"});
  task.node("batch_norm_1", "aten::batch_norm", {"conv3d_1", "gamma", "beta", "mean", "var", true, 0.1, 1e-5, true},
            {{"writes_state", {"mean", "var"}}});
  task.node("flatten_1", "aten::flatten.using_ints", {"batch_norm_1", 1}).node("exp_1", "aten::tanh", {"flatten_1"});
  task.output("exp_1").output("flatten_1");
  // In three dimensions and with few channels cuDNN takes TF32, where that is allowed, for channels_last alone: the
  // reference, which has fp32's errors, would rightly not accept that.
  EXPECT_RIGHT_WITH(task, "//! layout conv3d_1 batch_norm_1 channels_last\n", Declared::strict);
  EXPECT_EQ(wrong_metas(task, "//! layout conv3d_1 batch_norm_1 channels_last\n"), Steps{});
}

TEST_F(Layout, RefusesWhatItDoesNotKnow) {
  EXPECT_REFUSED(two_convolutions(), "//! layout relu_1 channels_last\n", "nothing that it reads is channels_last");
  EXPECT_REFUSED(two_convolutions(), "//! layout conv2d_1 nhwc\n", "no node 'nhwc'");
  EXPECT_REFUSED(two_convolutions(), "//! layout conv2d_1\n", "expected the layout behind the nodes");
  EXPECT_REFUSED(two_convolutions(), "\n//! layout conv2d_1 channels_last\n//! layout conv2d_1 channels_last\n",
                 "channels_last already");
  EXPECT_REFUSED(two_convolutions(), "//! fuse relu_1\n//! layout conv2d_1 channels_last\n", "replaced already, by");
  TaskText task;
  task.input("x", {2, 3, 9}).weight("w", {4, 3, 2}).node("conv1d_1", "aten::conv1d", {"x", "w"}).output("conv1d_1");
  EXPECT_REFUSED(task, "//! layout conv1d_1 channels_last\n", "not (N, C, H, W)");
  TaskText softmax;
  softmax.input("x", {2, 3, 4, 5}).node("softmax_1", "aten::softmax.int", {"x", 1}).output("softmax_1");
  EXPECT_REFUSED(softmax, "//! layout softmax_1 channels_last\n", "is not known");
}

}  // namespace
}  // namespace cudal1::testing
