// `fuse` of convolutions that see few channels, with what comes before and after them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "technique_harness.hpp"

namespace cudal1::testing {
namespace {

using nlohmann::json;

class Depthwise : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_device(); !why.empty()) GTEST_SKIP() << why;
  }
};

struct Convolution {
  std::vector<std::int64_t> input = {2, 6, 9, 11}, weight = {6, 1, 3, 3};
  json stride = {1, 1}, padding = {1, 1}, dilation = {1, 1};
  std::int64_t groups = 6;
  bool bias = true;
  json more = {};  //!< of the input and the weights
};

//! conv, then relu6.
TaskText convolved(const Convolution& c) {
  TaskText task;
  task.input("x", c.input, c.more).weight("w", c.weight, c.more.contains("dtype") ? c.more : json{});
  if (c.bias) task.weight("b", {c.weight[0]}, c.more.contains("dtype") ? c.more : json{});
  const json bias = c.bias ? json("b") : json(nullptr);
  const std::string op = fmt::format("aten::conv{}d{}", c.weight.size() - 2, c.padding.is_object() ? ".padding" : "");
  task.node("conv_1", op, {"x", "w", bias, c.stride, c.padding, c.dilation, c.groups});
  task.node("relu6_1", "aten::relu6", {"conv_1"}).output("relu6_1");
  return task;
}

//! The same, transposed.
TaskText transposed(const Convolution& c, const json& output_padding = 0) {
  TaskText task;
  task.input("x", c.input, c.more).weight("w", c.weight);
  if (c.bias) task.weight("b", {c.weight[1] * c.groups});
  const std::size_t dims = c.weight.size() - 2;
  const std::string op = fmt::format("aten::conv_transpose{}d{}", dims, dims > 1 ? ".input" : "");
  task.node("conv_1", op,
            {"x", "w", c.bias ? json("b") : json(nullptr), c.stride, c.padding,
             output_padding == 0 ? json(std::vector<int>(dims, 0)) : output_padding, c.groups, c.dilation});
  task.node("relu6_1", "aten::relu6", {"conv_1"}).output("relu6_1");
  return task;
}

constexpr const char* fuse_both = "//! fuse conv_1 relu6_1";

std::string with(const std::string& parameters) { return fmt::format("{} : {}\n", fuse_both, parameters); }

TEST_F(Depthwise, MakesOneLaunchWithItsNeighbours) {
  const Verdict verdict = judged(convolved({}), fuse_both);
  EXPECT_EQ(verdict.status, "ok") << verdict.message;
  EXPECT_EQ(verdict.steps, std::vector<std::string>{"launch fuse_relu6_1"});
  EXPECT_EQ(verdict.techniques, std::vector<std::string>{"depthwise"});
}

TEST_F(Depthwise, IsRightForStridesPaddingAndDilation) {
  EXPECT_RIGHT(convolved({.stride = {2, 1}, .padding = {0, 2}, .dilation = {2, 3}}), fuse_both);
  EXPECT_RIGHT(convolved({.weight = {6, 1, 5, 2}, .stride = {3, 2}, .padding = {4, 1}, .bias = false}), fuse_both);
  EXPECT_RIGHT(convolved({.weight = {6, 1, 1, 1}, .padding = {1, 0}}), fuse_both);
  EXPECT_RIGHT(convolved({.input = {1, 6, 1, 1}, .padding = {2, 1}}), fuse_both);
}

TEST_F(Depthwise, IsRightInOneAndThreeDimensions) {
  EXPECT_RIGHT(convolved({.input = {2, 6, 37}, .weight = {6, 1, 4}, .stride = {2}, .padding = {1}, .dilation = {1}}),
               fuse_both);
  EXPECT_RIGHT(convolved({.input = {1, 2, 5, 6, 7},
                          .weight = {2, 1, 3, 2, 3},
                          .stride = {1, 1, 2},
                          .padding = {1, 0, 1},
                          .dilation = {1, 2, 1},
                          .groups = 2}),
               with("items=4"));
}

TEST_F(Depthwise, IsRightForPaddingByWord) {
  EXPECT_RIGHT(convolved({.weight = {6, 1, 4, 3}, .padding = {{"string", "same"}}, .dilation = {1, 2}}), fuse_both);
  EXPECT_RIGHT(convolved({.padding = {{"string", "valid"}}}), fuse_both);
}

TEST_F(Depthwise, IsRightForGroupsOfSomeChannels) {
  EXPECT_RIGHT(convolved({.weight = {12, 1, 3, 3}}), fuse_both);  // two outputs a channel
  EXPECT_RIGHT(convolved({.weight = {9, 2, 3, 3}, .groups = 3}), with("items=2"));
  EXPECT_RIGHT(convolved({.input = {2, 3, 9, 11}, .weight = {5, 3, 3, 3}, .groups = 1}), fuse_both);
}

TEST_F(Depthwise, IsRightForEveryParameter) {
  for (const char* items : {"1", "2", "4", "8"})
    for (const char* along : {"auto", "x", "y"})
      EXPECT_RIGHT(convolved({.stride = {1, 2}}), with(fmt::format("items={} along={}", items, along)));
  for (const char* block : {"64", "128", "256", "512", "1024"})
    EXPECT_RIGHT(convolved({}), with(fmt::format("block={}", block)));
}

TEST_F(Depthwise, LoadsSeveralChannelsAtOnceWhereTheyAreInnermost) {
  const json channels_last = {{"strides", {9 * 11 * 8, 1, 11 * 8, 8}}};
  const Convolution c{.input = {2, 8, 9, 11}, .weight = {8, 1, 3, 3}, .groups = 8, .more = channels_last};
  for (const char* vector : {"auto", "1", "2", "4"})
    for (const char* items : {"1", "4"})
      EXPECT_RIGHT(convolved(c), with(fmt::format("vector={} items={}", vector, items)));
}

TEST_F(Depthwise, IsRightInHalfPrecision) {
  for (const char* dtype : {"f16", "bf16"}) {
    EXPECT_RIGHT(convolved({.more = {{"dtype", dtype}}}), with("items=4"));
    EXPECT_RIGHT(convolved({.stride = {2, 2}, .more = {{"dtype", dtype}}}), fuse_both);
  }
}

TEST_F(Depthwise, TakesNodesBeforeAndTheGeneralConvolution) {
  TaskText task;
  task.input("x", {2, 6, 9, 11}).weight("w", {6, 1, 3, 3}).weight("scale", {6, 1, 1});
  task.node("mul_1", "aten::mul.Tensor", {"x", "scale"}).node("add_1", "aten::add.Scalar", {"mul_1", 1.0});
  task.node("conv_1", "aten::convolution",
            {"add_1", "w", nullptr, {1, 1}, {1, 1}, {1, 1}, false, {0, 0}, 6});  // beyond the ends there is no 1
  task.node("mul_2", "aten::mul.Tensor", {"conv_1", "scale"}).node("add_2", "aten::add.Tensor", {"mul_2", "x"});
  task.output("add_2");
  for (const char* items : {"1", "4"})
    EXPECT_RIGHT(task, fmt::format("//! fuse mul_1 add_1 conv_1 mul_2 add_2 : items={}\n", items));
}

TEST_F(Depthwise, MakesOneOfConvolutionActivationAndPooling) {
  TaskText task;
  task.input("x", {2, 3, 12, 14}).weight("w", {5, 3, 3, 3}).weight("b", {5});
  task.node("conv_1", "aten::conv2d", {"x", "w", "b", {1, 1}, {1, 1}}).node("tanh_1", "aten::tanh", {"conv_1"});
  task.node("pool_1", "aten::avg_pool2d", {"tanh_1", {2, 2}}).node("mul_1", "aten::mul.Tensor", {"pool_1", 3.0});
  task.output("mul_1");
  const Verdict verdict = judged(task, "//! fuse conv_1 tanh_1 pool_1 mul_1\n");
  EXPECT_EQ(verdict.status, "ok") << verdict.message << verdict.code;
  EXPECT_EQ(verdict.steps.size(), 1u);
}

TEST_F(Depthwise, IsRightTransposed) {
  EXPECT_RIGHT(transposed({}), fuse_both);
  EXPECT_RIGHT(transposed({.padding = {0, 4}, .dilation = {1, 3}}), fuse_both);
  EXPECT_RIGHT(transposed({.stride = {2, 3}}), fuse_both);
  EXPECT_RIGHT(transposed({.weight = {6, 1, 4, 2}, .stride = {2, 2}, .padding = {1, 0}, .bias = false}, {1, 1}),
               fuse_both);
  EXPECT_RIGHT(transposed({.weight = {6, 1, 2, 3}, .stride = {3, 4}, .padding = {0, 1}}), fuse_both);  // with gaps
  EXPECT_RIGHT(transposed({.weight = {6, 4, 3, 3}, .stride = {2, 1}, .groups = 2}), fuse_both);
  EXPECT_RIGHT(
      transposed(
          {.input = {2, 3, 8}, .weight = {3, 5, 5}, .stride = {2}, .padding = {2}, .dilation = {1}, .groups = 1}),
      fuse_both);
  EXPECT_RIGHT(transposed({.input = {1, 3, 4, 5, 3},
                           .weight = {3, 2, 3, 3, 3},
                           .stride = {2, 2, 2},
                           .padding = {1, 1, 1},
                           .dilation = {1, 1, 1},
                           .groups = 1}),
               with("block=128"));
  const json channels_last = {{"strides", {9 * 11 * 6, 1, 11 * 6, 6}}};
  EXPECT_RIGHT(transposed({.stride = {2, 2}, .more = channels_last}), fuse_both);
}

TEST_F(Depthwise, MakesOneOfTransposedConvolutionAndPooling) {
  TaskText task;
  task.input("x", {2, 3, 6, 5}).weight("w", {3, 4, 3, 3});
  task.node("conv_1", "aten::conv_transpose2d.input", {"x", "w", nullptr, {2, 2}, {1, 1}});
  task.node("tanh_1", "aten::tanh", {"conv_1"}).node("pool_1", "aten::max_pool2d", {"tanh_1", {2, 2}}).output("pool_1");
  EXPECT_RIGHT(task, "//! fuse conv_1 tanh_1 pool_1\n");
}

TEST_F(Depthwise, IsRightForSingleElementsNoneAndStrides) {
  EXPECT_RIGHT(convolved({.input = {1, 1, 1, 1}, .weight = {1, 1, 3, 3}, .groups = 1}), fuse_both);
  EXPECT_RIGHT(convolved({.input = {0, 6, 9, 11}}), fuse_both);
  EXPECT_RIGHT(convolved({.more = {{"strides", {1400, 210, 22, 2}}}}), fuse_both);
  EXPECT_RIGHT(transposed({.input = {1, 6, 1, 1}, .stride = {2, 2}}), fuse_both);
}

TEST_F(Depthwise, CountsBeyondThirtyTwoBits) {
  TaskText task;
  task.input("x", {2, 6, 8, 8}, {{"strides", {std::int64_t{1} << 32, 64, 8, 1}}}).weight("w", {6, 1, 3, 3});
  task.node("conv_1", "aten::conv2d", {"x", "w", nullptr, {1, 1}, {1, 1}, {1, 1}, 6}).output("conv_1");
  const Verdict verdict = planned(task, "//! fuse conv_1\n");
  EXPECT_EQ(verdict.status, "ok") << verdict.message;
  EXPECT_NE(verdict.code.find("4294967296ull * i0"), std::string::npos) << verdict.code;
}

TEST_F(Depthwise, RefusesToComputeAConvolutionManyTimes) {
  TaskText task;
  task.input("x", {2, 3, 9, 9}).weight("w", {3, 1, 3, 3}).weight("v", {20, 3, 1, 1});
  task.node("conv_1", "aten::conv2d", {"x", "w", nullptr, {1, 1}, {1, 1}, {1, 1}, 3});
  task.node("conv_2", "aten::conv2d", {"conv_1", "v"}).output("conv_2");
  EXPECT_REFUSED(task, "//! fuse conv_1 conv_2\n", "times");
}

TEST_F(Depthwise, RefusesWhatItCannotWrite) {
  EXPECT_REFUSED(convolved({.input = {1, 34, 5, 5}, .weight = {6, 17, 3, 3}, .groups = 2}), fuse_both,
                 "no technique fuses");
  EXPECT_REFUSED(convolved({}), with("vector=2"), "vector=2");
  EXPECT_REFUSED(convolved({.weight = {6, 1, 1, 1}, .padding = {0, 0}}), with("items=2"), "items=2");
  EXPECT_REFUSED(transposed({.stride = {2, 1}, .dilation = {2, 1}}), fuse_both, "steps");
}

}  // namespace
}  // namespace cudal1::testing
