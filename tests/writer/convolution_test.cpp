// `fuse` of convolutions of many channels, as matrix products, with what comes after them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "technique_harness.hpp"
#include "writer/products/tile_choice.hpp"

namespace cudal1::testing {
namespace {

using nlohmann::json;
using Sizes = std::vector<std::int64_t>;

class Convolutions : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_device(); !why.empty()) GTEST_SKIP() << why;
  }
};

struct Convolution {
  Sizes input = {2, 5, 7, 9}, weight = {11, 5, 3, 3};
  json stride = {1, 1}, padding = {1, 1}, dilation = {1, 1};
  bool bias = true;
  json more = {};  //!< of the input
  json output_padding = {0, 0};
  std::int64_t groups = 1;
};

json typed(const Convolution& c) {
  return c.more.contains("dtype") ? json{{"dtype", c.more["dtype"]}} : json(json::value_t::object);
}

//! conv, then relu.
TaskText convolved(const Convolution& c) {
  TaskText task;
  task.input("x", c.input, c.more).weight("w", c.weight, typed(c));
  if (c.bias) task.weight("b", {c.weight[0]}, typed(c));
  const std::string op = fmt::format("aten::conv{}d{}", c.weight.size() - 2, c.padding.is_object() ? ".padding" : "");
  task.node("conv_1", op, {"x", "w", c.bias ? json("b") : json(nullptr), c.stride, c.padding, c.dilation, c.groups});
  task.node("relu_1", "aten::relu", {"conv_1"}).output("relu_1");
  return task;
}

//! The same, transposed: weight [inputs, outputs, …].
TaskText transposed(const Convolution& c) {
  TaskText task;
  task.input("x", c.input, c.more).weight("w", c.weight, typed(c));
  if (c.bias) task.weight("b", {c.weight[1] * c.groups}, typed(c));
  const std::size_t dims = c.weight.size() - 2;
  const std::string op = fmt::format("aten::conv_transpose{}d{}", dims, dims > 1 ? ".input" : "");
  task.node("conv_1", op,
            {"x", "w", c.bias ? json("b") : json(nullptr), c.stride, c.padding, c.output_padding, c.groups, c.dilation});
  task.node("relu_1", "aten::relu", {"conv_1"}).output("relu_1");
  return task;
}

constexpr const char* fuse_both = "//! fuse conv_1 relu_1";

std::string with(const std::string& parameters) { return fmt::format("{} : {}\n", fuse_both, parameters); }

TEST_F(Convolutions, AreOneLaunchWithBiasAndActivation) {
  const Verdict verdict = judged(convolved({}), fuse_both);
  EXPECT_EQ(verdict.status, "ok") << verdict.message << verdict.code;
  EXPECT_EQ(verdict.steps, std::vector<std::string>{"launch fuse_relu_1"});
  EXPECT_EQ(verdict.techniques, std::vector<std::string>{"convolution"});
}

TEST_F(Convolutions, AreRightForStridesPaddingAndDilation) {
  EXPECT_RIGHT(convolved({.stride = {2, 1}, .padding = {0, 2}, .dilation = {2, 3}}), fuse_both);
  EXPECT_RIGHT(convolved({.weight = {8, 5, 5, 2}, .stride = {3, 2}, .padding = {4, 1}, .bias = false}), fuse_both);
  EXPECT_RIGHT(convolved({.weight = {64, 5, 1, 1}, .padding = {0, 0}}), fuse_both);
  EXPECT_RIGHT(convolved({.input = {1, 5, 1, 1}}), fuse_both);
  EXPECT_RIGHT(convolved({.weight = {8, 5, 4, 3}, .padding = {{"string", "same"}}, .dilation = {1, 2}}), fuse_both);
}

TEST_F(Convolutions, AreRightOfManyChannelsToFew) {
  EXPECT_RIGHT(convolved({.input = {2, 17, 5, 6}, .weight = {1, 17, 3, 3}}), fuse_both);
  EXPECT_RIGHT(transposed({.input = {2, 19, 3, 4}, .weight = {19, 3, 3, 3}, .stride = {2, 2}}), fuse_both);
}

//! Windows of one element are no windows: the input is a matrix as it lies there.
TEST_F(Convolutions, AreRightWithoutWindows) {
  const Convolution aligned{.input = {2, 12, 6, 10}, .weight = {8, 12, 1, 1}, .padding = {0, 0}};
  EXPECT_NE(planned(convolved(aligned), fuse_both).code.find("12, false, 60, 4> right"), std::string::npos)
      << planned(convolved(aligned), fuse_both).code;
  for (const char* parameters : {"math=tf32x3", "math=fp32", "tile=16x64x64", "tile=128x16x32"})
    EXPECT_RIGHT(convolved(aligned), with(parameters));
  EXPECT_RIGHT(convolved({.weight = {8, 5, 1, 1}, .padding = {0, 0}}), fuse_both);
  EXPECT_RIGHT(convolved({.weight = {8, 5, 1, 1}, .stride = {2, 2}, .padding = {0, 0}}), fuse_both);
  EXPECT_RIGHT(convolved({.weight = {8, 5, 1, 1}, .padding = {0, 0}, .more = {{"strides", {315, 1, 45, 5}}}}),
               fuse_both);  // channels last: along the depth
  EXPECT_RIGHT(convolved({.input = {3, 8, 1, 1}, .weight = {8, 8, 1, 1}, .padding = {0, 0}}), fuse_both);
  EXPECT_RIGHT(
      convolved({.input = {2, 16, 4, 4}, .weight = {16, 16, 1, 1}, .padding = {0, 0}, .more = {{"dtype", "f16"}}}),
      fuse_both);
  EXPECT_RIGHT(transposed({.weight = {5, 8, 1, 1}, .padding = {0, 0}}), fuse_both);
}

TEST_F(Convolutions, AreRightInOneAndThreeDimensions) {
  EXPECT_RIGHT(
      convolved(
          {.input = {3, 7, 131}, .weight = {13, 7, 4}, .stride = {2}, .padding = {1}, .dilation = {3}, .bias = true}),
      fuse_both);
  EXPECT_RIGHT(convolved({.input = {2, 3, 5, 6, 11},
                          .weight = {16, 3, 3, 2, 3},
                          .stride = {1, 1, 2},
                          .padding = {1, 0, 1},
                          .dilation = {1, 2, 1}}),
               fuse_both);
}

TEST_F(Convolutions, AreRightTransposed) {
  EXPECT_RIGHT(transposed({.weight = {5, 9, 3, 4}, .padding = {0, 2}, .dilation = {2, 1}}), fuse_both);
  EXPECT_RIGHT(transposed({.input = {2, 3, 17},
                           .weight = {3, 8, 5},
                           .stride = {1},
                           .padding = {0},
                           .dilation = {3},
                           .output_padding = {0}}),
               fuse_both);
}

TEST_F(Convolutions, AreRightTransposedWithSteps) {
  EXPECT_RIGHT(transposed({.weight = {5, 8, 3, 3}, .stride = {2, 2}, .output_padding = {1, 0}}), fuse_both);
  EXPECT_RIGHT(transposed({.weight = {5, 8, 4, 4}, .stride = {2, 2}}), fuse_both);
  EXPECT_RIGHT(transposed({.weight = {5, 9, 2, 5}, .stride = {3, 2}, .padding = {0, 3}, .bias = false}), fuse_both);
  EXPECT_RIGHT(transposed({.weight = {5, 8, 1, 3}, .stride = {2, 3}, .padding = {0, 1}}), fuse_both);
  EXPECT_RIGHT(transposed({.input = {2, 3, 3, 4, 5},
                           .weight = {3, 16, 3, 3, 3},
                           .stride = {2, 2, 2},
                           .padding = {1, 1, 1},
                           .dilation = {1, 1, 1},
                           .output_padding = {1, 1, 1}}),
               fuse_both);
  EXPECT_RIGHT(transposed({.input = {1, 4, 2, 3, 5},
                           .weight = {4, 10, 3, 5, 7},
                           .stride = {2, 1, 2},
                           .padding = {1, 2, 3},
                           .dilation = {1, 1, 1},
                           .output_padding = {1, 0, 1}}),
               fuse_both);
}

//! Many channels, and filters that the step does not divide: each phase has its own depth.
TEST_F(Convolutions, AreRightByPhase) {
  const Convolution plain{.input = {2, 3, 3, 4}, .weight = {3, 64, 3, 3}, .stride = {2, 2}, .output_padding = {1, 1}};
  EXPECT_NE(planned(transposed(plain), fuse_both).code.find("const unsigned phase"), std::string::npos);
  EXPECT_RIGHT(transposed(plain), fuse_both);
  EXPECT_RIGHT(transposed(plain), with("tile=16x64x64"));
  EXPECT_REFUSED(transposed(plain), with("tile=128x64x32"), "tile=128x64x32");
  EXPECT_RIGHT(transposed({.input = {1, 1, 3, 4}, .weight = {1, 64, 4, 3}, .stride = {2, 2}, .padding = {0, 1}}),
               fuse_both);
  EXPECT_RIGHT(transposed({.input = {1, 5, 3, 4}, .weight = {5, 64, 7, 3}, .stride = {3, 3}, .padding = {2, 0}}),
               fuse_both);
  EXPECT_RIGHT(transposed({.input = {1, 5, 3, 4}, .weight = {5, 64, 2, 3}, .stride = {3, 2}, .padding = {0, 0}}),
               fuse_both);  // a phase without a filter: not by phase
  EXPECT_RIGHT(transposed({.input = {1, 3, 2, 3, 3},
                           .weight = {3, 64, 3, 3, 3},
                           .stride = {2, 1, 2},
                           .padding = {1, 1, 1},
                           .dilation = {1, 1, 1},
                           .output_padding = {1, 0, 1}}),
               fuse_both);
}

TEST_F(Convolutions, AreRightWithEveryParameter) {
  for (const char* parameters : {"stages=2", "stages=4 swizzle=1", "swizzle=16", "split=1"}) {
    EXPECT_RIGHT(convolved({}), with(parameters));
    EXPECT_RIGHT(transposed({.weight = {5, 8, 3, 3}, .stride = {2, 2}}), with(parameters));
  }
  EXPECT_RIGHT(convolved({}), with("math=fp32 tile=64x64x16"));
  EXPECT_RIGHT(transposed({.weight = {5, 8, 3, 3}, .stride = {2, 2}}), with("math=fp32 tile=64x64x16"));
}

TEST_F(Convolutions, AreRightWithEveryTile) {
  for (const ProductTile& tile : product_tiles()) {
    EXPECT_RIGHT(transposed({.weight = {5, 8, 3, 3}, .stride = {2, 2}, .output_padding = {1, 1}}),
                 with(fmt::format("tile={} stages=2", tile.name())));
  }
  for (const char* tile : {"128x128x32", "16x64x64", "128x16x32", "64x32x32"})
    EXPECT_RIGHT(convolved({.input = {1, 5, 13, 11}, .weight = {37, 5, 3, 3}}), with(fmt::format("tile={}", tile)));
}

TEST_F(Convolutions, AreRightOfStridedInputs) {
  EXPECT_RIGHT(convolved({.more = {{"strides", {315, 1, 45, 5}}}}), fuse_both);  // channels last
  EXPECT_RIGHT(transposed({.weight = {5, 8, 3, 3}, .stride = {2, 2}, .more = {{"strides", {700, 140, 20, 2}}}}),
               fuse_both);
}

TEST_F(Convolutions, AreRightOfViews) {
  TaskText task;
  task.input("x", {2, 7, 9, 5}).weight("w", {8, 5, 3, 3});
  task.node("permute_1", "aten::permute", {"x", json{0, 3, 1, 2}});
  task.node("conv_1", "aten::conv2d", {"permute_1", "w", nullptr, json{1, 1}, json{1, 1}});
  task.node("mul_1", "aten::mul.Tensor", {"conv_1", 2.0}).output("mul_1");
  EXPECT_RIGHT(task, "//! fuse conv_1 mul_1");
}

TEST_F(Convolutions, AreRightOfSmallFloats) {
  for (const char* dtype : {"f16", "bf16"}) {
    EXPECT_RIGHT(convolved({.more = {{"dtype", dtype}}}), fuse_both);
    EXPECT_RIGHT(transposed({.weight = {5, 8, 3, 3}, .stride = {2, 2}, .more = {{"dtype", dtype}}}), fuse_both);
  }
}

//! A factor for each channel, a tensor as large as the result, and both sums and results stored.
TEST_F(Convolutions, AreFusedWithOtherTensors) {
  TaskText task;
  task.input("x", {2, 5, 4, 6}).input("y", {2, 8, 7, 11}).weight("w", {5, 8, 3, 3}).weight("s", {8, 1, 1});
  task.node("conv_1", "aten::conv_transpose2d.input", {"x", "w", nullptr, json{2, 2}, json{1, 1}});
  task.node("mul_1", "aten::mul.Tensor", {"conv_1", "s"});
  task.node("add_1", "aten::add.Tensor", {"mul_1", "y"}).output("conv_1").output("add_1");
  EXPECT_RIGHT(task, "//! fuse conv_1 mul_1 add_1");
}

TEST_F(Convolutions, AreRightInGroups) {
  const json last = {{"strides", {9 * 7 * 24, 1, 9 * 24, 24}}};  // channels are neighbours
  for (const Convolution& c : std::vector<Convolution>{
           {.input = {2, 24, 7, 9}, .weight = {51, 8, 3, 3}, .groups = 3},
           {.input = {2, 24, 7, 9}, .weight = {34, 12, 1, 1}, .padding = {0, 0}, .groups = 2},
           {.input = {1, 16, 7, 9}, .weight = {32, 8, 3, 2}, .stride = {2, 3}, .bias = false, .groups = 2},
           {.input = {3, 24, 7, 9}, .weight = {48, 8, 3, 3}, .dilation = {2, 1}, .more = last, .groups = 3}})
    for (const char* parameters : {"tile=auto", "tile=16x64x64 stages=2", "math=fp32"}) {
      EXPECT_RIGHT(convolved(c), with(parameters));
      EXPECT_EQ(planned(convolved(c), with(parameters)).techniques, std::vector<std::string>{"convolution"});
    }
}

TEST_F(Convolutions, AreRightTransposedInGroups) {
  const Sizes volume = {2, 16, 3, 4, 5};
  for (const Convolution& c : std::vector<Convolution>{
           {.input = volume, .weight = {16, 9, 3, 5, 7}, .stride = {2, 2, 2}, .padding = {1, 2, 3},
            .dilation = {1, 1, 1}, .output_padding = {1, 1, 1}, .groups = 2},
           {.input = volume, .weight = {16, 17, 2, 1, 3}, .stride = {1, 1, 1}, .padding = {0, 0, 1},
            .dilation = {1, 1, 1}, .output_padding = {0, 0, 0}, .groups = 2},
           {.input = {2, 16, 4, 5}, .weight = {16, 64, 3, 3}, .stride = {2, 2}, .padding = {1, 1}, .groups = 2}})
    for (const char* parameters : {"tile=auto", "tile=64x64x32 stages=2"}) {
      EXPECT_RIGHT(transposed(c), with(parameters));
      EXPECT_EQ(planned(transposed(c), with(parameters)).techniques, std::vector<std::string>{"convolution"});
    }
}

//! What follows may count channels in an order of its own: here the groups are what a view shuffles.
TEST_F(Convolutions, InGroupsAreFusedWithOtherTensors) {
  TaskText task;
  task.input("x", {2, 16, 4, 6}).input("y", {2, 2, 17, 4, 6}).weight("w", {34, 8, 3, 3}).weight("s", {34, 1, 1});
  task.node("conv_1", "aten::conv2d", {"x", "w", nullptr, json{1, 1}, json{1, 1}, json{1, 1}, 2});
  task.node("mul_1", "aten::mul.Tensor", {"conv_1", "s"}).node("view_1", "aten::view", {"mul_1", {2, 2, 17, 4, 6}});
  task.node("add_1", "aten::add.Tensor", {"view_1", "y"}).node("transpose_1", "aten::transpose.int", {"add_1", 1, 2});
  task.node("clone_1", "aten::clone", {"transpose_1"}).output("clone_1");
  EXPECT_RIGHT(task, "//! fuse conv_1 mul_1 add_1 clone_1\n");
  EXPECT_RIGHT(task, "//! fuse conv_1 mul_1 add_1\n");
}

TEST_F(Convolutions, LeaveFewChannelsToOtherTechniques) {
  const std::vector<std::string> depthwise{"depthwise"};
  EXPECT_EQ(planned(convolved({.weight = {7, 5, 3, 3}}), fuse_both).techniques, depthwise);
  EXPECT_EQ(planned(convolved({.input = {2, 16, 7, 9}, .weight = {16, 8, 3, 3}, .groups = 2}), fuse_both).techniques,
            depthwise);
  EXPECT_REFUSED(transposed({.weight = {5, 8, 3, 3}, .stride = {2, 2}, .dilation = {2, 2}}), fuse_both,
                 "both steps and dilation");
}

TEST_F(Convolutions, MayDealOutTheirWorkInOtherWays) {
  for (const char* parameters : {"add=8 ahead=1", "add=16 ahead=0 blocks=2", "tile=64x64x32 warps=4x1", "math=fp32"})
    EXPECT_RIGHT(convolved({}), with(parameters));
}

//! Images of 16 channels, too large to be run.
TaskText huge(std::int64_t batches, std::int64_t side) {
  TaskText task;
  task.input("x", {batches, 16, side, side}).weight("w", {8, 16, 3, 3});
  task.node("conv_1", "aten::conv2d", {"x", "w", nullptr, json{1, 1}, json{1, 1}}).output("conv_1");
  return task;
}

TEST_F(Convolutions, AreRightByGroupsOfWarps) {
  EXPECT_RIGHT(convolved({.stride = {2, 1}, .padding = {0, 2}, .dilation = {2, 3}}), with("math=wgmma"));
  EXPECT_RIGHT(convolved({.input = {3, 16, 9, 10}, .weight = {130, 16, 2, 2}}), with("math=wgmma add=64"));
  EXPECT_RIGHT(convolved({.input = {2, 20, 6, 6}, .weight = {12, 20, 1, 1}, .padding = {0, 0}}), with("math=wgmma"));
}

TEST_F(Convolutions, RefuseWhatTheyCannotWrite) {
  EXPECT_REFUSED(convolved({}), with("split=4"), "is not among the values of 'split'");
  EXPECT_REFUSED(convolved({}), with("tile=rows"), "is not among the values of 'tile'");
  EXPECT_REFUSED(transposed({.weight = {5, 11, 3, 3}}), with("math=wgmma"), "gathered row by row");
  EXPECT_REFUSED(convolved({}), with("tile=128x64x32 warps=2x1"), "needs as many threads");
  EXPECT_REFUSED(convolved({}), with("math=tensor"), "math=tensor is for operands of 16 bits");
  EXPECT_REFUSED(huge(1, 16384), "//! fuse conv_1", "too large to be found by 32-bit places");
}

//! PyTorch's own convolutions may, by default.
TEST_F(Convolutions, RoundOperandsToTf32WherePyTorchDoes) {
  EXPECT_RIGHT(convolved({.stride = {2, 1}, .padding = {0, 2}, .dilation = {2, 3}}), with("math=tf32"));
  EXPECT_RIGHT(transposed({.weight = {5, 9, 3, 4}, .padding = {0, 2}}), with("math=tf32"));
  EXPECT_EQ(judged(convolved({}), with("math=tf32"), Declared::strict).status, "plan_error");
  EXPECT_REFUSED(convolved({}), with("math=bf16"), "math=bf16 rounds fp32 operands");
}

//! The batch's part of a place may be far beyond what 32 bits count.
TEST_F(Convolutions, CountBatchesIn64Bits) {
  const Verdict verdict = planned(huge(11, 8192), "//! fuse conv_1");
  EXPECT_EQ(verdict.status, "ok") << verdict.message;
  EXPECT_NE(verdict.code.find("p_x + 1073741824ll * batch"), std::string::npos) << verdict.code;
  EXPECT_NE(verdict.code.find("const unsigned long long b0 = batch"), std::string::npos) << verdict.code;
}

}  // namespace
}  // namespace cudal1::testing
