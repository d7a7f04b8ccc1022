// `commute`: a sum or mean over rows before a linear layer instead of behind it.
#include <gtest/gtest.h>

#include "meta_check.hpp"

namespace cudal1::testing {
namespace {

using Steps = std::vector<std::string>;

class Commute : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_device(); !why.empty()) GTEST_SKIP() << why;
  }
};

TaskText pooled(const char* op, std::vector<std::int64_t> dimensions, bool keep, std::vector<std::int64_t> shape,
                const nlohmann::json& of_input = {}, const nlohmann::json& of_weight = {}) {
  TaskText task;
  task.input("x", shape, of_input).weight("w", {5, shape.back()}, of_weight).weight("b", {5});
  task.node("linear_1", "aten::linear", {"x", "w", "b"}).node("mean_1", op, {"linear_1", dimensions, keep});
  task.node("relu_1", "aten::relu", {"mean_1"}).output("relu_1");
  return task;
}

const std::string line = "//! commute mean_1 linear_1\n";

TEST_F(Commute, TakesTheMeanBeforeTheLayer) {
  const TaskText task = pooled("aten::mean.dim", {1}, false, {3, 7, 4});
  const Verdict verdict = judged(task, line);
  EXPECT_EQ(verdict.status, "ok") << verdict.message;
  EXPECT_EQ(verdict.steps, (Steps{"op mean_1", "op linear_1", "op relu_1"}));
  EXPECT_EQ(wrong_metas(task, line), Steps{});
}

TEST_F(Commute, IsRightForSumsAndAllDimensionsButTheLast) {
  for (const char* op : {"aten::mean.dim", "aten::sum.dim_IntList"})
    for (const bool keep : {false, true}) {
      EXPECT_RIGHT(pooled(op, {0}, keep, {7, 3}), line);
      EXPECT_RIGHT(pooled(op, {-2, 0}, keep, {3, 5, 2}), line);
    }
}

const std::string fused = line + "//! split linear_1\n//! fuse linear_1_bias relu_1\n//! fuse mean_1\n";

//! Sums of nothing are zero, and means of nothing NaN, on either side of the layer.
TEST_F(Commute, IsRightForOddSizesAndWithoutElements) {
  using Shape = std::vector<std::int64_t>;
  for (const char* op : {"aten::mean.dim", "aten::sum.dim_IntList"})
    for (const Shape& shape : {Shape{1, 1, 1}, {13, 31, 17}, {3, 0, 4}, {0, 7, 4}, {3, 7, 0}}) {
      EXPECT_RIGHT(pooled(op, {1}, false, shape), line);
      EXPECT_RIGHT(pooled(op, {1}, true, shape), fused);
      EXPECT_EQ(wrong_metas(pooled(op, {1}, true, shape), line), Steps{});
    }
}

TEST_F(Commute, IsRightForStridedInputsAndWeights) {
  for (const auto& strides : std::vector<std::vector<std::int64_t>>{{4, 12, 1}, {1, 3, 21}, {70, 9, 2}})
    for (const char* op : {"aten::mean.dim", "aten::sum.dim_IntList"})
      for (const bool keep : {false, true}) {
        const TaskText task = pooled(op, {1}, keep, {3, 7, 4}, {{"strides", strides}}, {{"strides", {1, 6}}});
        EXPECT_RIGHT(task, line);
        EXPECT_RIGHT(task, fused);
        EXPECT_EQ(wrong_metas(task, line), Steps{});
      }
}

TEST_F(Commute, ServesTheTasksOutputsAndLaterLines) {
  TaskText task = pooled("aten::sum.dim_IntList", {1}, false, {3, 7, 4});
  task.output("mean_1");
  EXPECT_RIGHT(task, line + "//! split linear_1\n//! fuse linear_1_bias relu_1\n//! fuse mean_1\n");
}

TaskText pooled_image(const char* op, const nlohmann::json& args, bool bias, int padding = 0, int groups = 1,
                      std::int64_t batch = 2, const nlohmann::json& of_input = {}) {
  TaskText task;
  task.input("x", {batch, 4, 5, 3}, of_input).weight("w", {4, 3, 3, 2}).weight("b", {3 * groups});
  const nlohmann::json given = bias ? nlohmann::json("b") : nlohmann::json(nullptr);
  task.node("conv_1", "aten::conv_transpose2d.input", {"x", "w", given, {2, 1}, padding, {1, 0}, groups});
  nlohmann::json all = {"conv_1"};
  all.insert(all.end(), args.begin(), args.end());
  task.node("mean_1", op, all).node("relu_1", "aten::tanh", {"mean_1"}).output("relu_1");
  return task;
}

const std::string over_image = "//! commute mean_1 conv_1\n";

TEST_F(Commute, NeedsNoImageBehindATransposedConvolution) {
  const nlohmann::json image = {2, 3};
  for (const bool bias : {true, false})
    for (const bool keep : {true, false})
      for (const char* op : {"aten::mean.dim", "aten::sum.dim_IntList"}) {
        const TaskText task = pooled_image(op, {image, keep}, bias);
        const Verdict verdict = judged(task, over_image);
        EXPECT_EQ(verdict.status, "ok") << op << keep << bias << verdict.message;
        EXPECT_EQ(verdict.steps, (Steps{"op mean_1", "op conv_1", "op relu_1"}));
        EXPECT_EQ(wrong_metas(task, over_image), Steps{});
      }
  EXPECT_RIGHT(pooled_image("aten::adaptive_avg_pool2d", nlohmann::json::array({{1, 1}}), true),
               over_image + "//! split conv_1\n//! fuse conv_1_bias relu_1\n//! fuse mean_1\n");
}

TEST_F(Commute, IsRightForStridedImagesAndEmptyBatches) {
  const nlohmann::json image = {2, 3};
  for (const bool keep : {true, false}) {
    EXPECT_RIGHT(pooled_image("aten::mean.dim", {image, keep}, true, 0, 1, 0), over_image);
    for (const auto& strides : std::vector<std::vector<std::int64_t>>{{60, 1, 12, 4}, {200, 47, 9, 2}}) {
      const TaskText task = pooled_image("aten::sum.dim_IntList", {image, keep}, true, 0, 1, 2, {{"strides", strides}});
      EXPECT_RIGHT(task, over_image);
      EXPECT_EQ(wrong_metas(task, over_image), Steps{});
    }
  }
}

TEST_F(Commute, RefusesWhatCutsImagesOff) {
  const nlohmann::json image = {2, 3}, row = nlohmann::json::array({3});
  EXPECT_REFUSED(pooled_image("aten::mean.dim", {image, true}, true, 1), over_image, "cuts parts of the result off");
  EXPECT_REFUSED(pooled_image("aten::mean.dim", {image, true}, true, 0, 2), over_image, "in groups");
  EXPECT_REFUSED(pooled_image("aten::mean.dim", {row, true}, true), over_image, "all dimensions of the image");
  TaskText task;
  task.input("x", {2, 4, 5, 3}).weight("w", {3, 4, 3, 2}).node("conv_1", "aten::conv2d", {"x", "w"});
  task.node("mean_1", "aten::mean.dim", {"conv_1", image}).output("mean_1");
  EXPECT_REFUSED(task, over_image, "at the border");
}

TEST_F(Commute, RefusesOtherDimensionsAndOtherReaders) {
  EXPECT_REFUSED(pooled("aten::mean.dim", {2}, false, {3, 7, 4}), line, "'fold' puts that into the weight");
  EXPECT_REFUSED(pooled("aten::amax", {1}, false, {3, 7, 4}), line, "no sum or mean");
  EXPECT_REFUSED(pooled("aten::mean.dim", {1}, false, {3, 7, 4}), line + line, "it does not read its result");
  EXPECT_REFUSED(pooled("aten::mean.dim", {1}, false, {3, 7, 4}), "//! fuse relu_1\n" + line, "is replaced already");
  TaskText task = pooled("aten::mean.dim", {1}, false, {3, 7, 4});
  EXPECT_REFUSED(task.output("linear_1"), line, "is needed for more than that");
}

}  // namespace
}  // namespace cudal1::testing
