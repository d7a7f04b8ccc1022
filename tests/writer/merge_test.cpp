// `merge`: two linear layers, one right behind the other.
#include <gtest/gtest.h>

#include "meta_check.hpp"

namespace cudal1::testing {
namespace {

using Steps = std::vector<std::string>;

class Merge : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_device(); !why.empty()) GTEST_SKIP() << why;
  }
};

struct Sizes {
  std::vector<std::int64_t> rows;
  std::int64_t in, between, out;
};

TaskText two_layers(const Sizes& sizes, bool first_bias = true, bool second_bias = true,
                    const nlohmann::json& of_input = {}, const nlohmann::json& of_weight = {}) {
  TaskText task;
  std::vector<std::int64_t> shape = sizes.rows;
  shape.push_back(sizes.in);
  task.input("x", shape, of_input).weight("w1", {sizes.between, sizes.in}, of_weight).weight("b1", {sizes.between});
  task.weight("w2", {sizes.out, sizes.between}).weight("b2", {sizes.out});
  const nlohmann::json none = nullptr;
  task.node("linear_1", "aten::linear", {"x", "w1", first_bias ? nlohmann::json("b1") : none});
  task.node("linear_2", "aten::linear", {"linear_1", "w2", second_bias ? nlohmann::json("b2") : none});
  task.node("relu_1", "aten::relu", {"linear_2"}).output("relu_1");
  return task;
}

const std::string line = "//! merge linear_2 into linear_1\n";

TEST_F(Merge, MakesOneLayerOfTwo) {
  const Verdict verdict = judged(two_layers({{5}, 3, 8, 2}), line);
  EXPECT_EQ(verdict.status, "ok") << verdict.message;
  EXPECT_EQ(verdict.steps, (Steps{"op linear_1", "op relu_1"}));
  EXPECT_EQ(wrong_metas(two_layers({{5}, 3, 8, 2}), line), Steps{});
}

TEST_F(Merge, IsRightForOddSizesAndWithoutBiases) {
  for (const Sizes& sizes : {Sizes{{1}, 1, 1, 1}, {{2, 3}, 7, 11, 13}, {{0}, 2, 3, 2}})
    EXPECT_RIGHT(two_layers(sizes), line);
  for (const auto& [first, second] : {std::pair{true, false}, {false, true}, {false, false}})
    EXPECT_RIGHT(two_layers({{3}, 5, 7, 4}, first, second), line);
}

const std::string fused = line + "//! split linear_1\n//! fuse linear_1_bias relu_1\n";

TEST_F(Merge, IsRightWithoutElements) {
  for (const Sizes& sizes : {Sizes{{3, 0}, 2, 3, 2}, {{3}, 0, 3, 2}, {{3}, 2, 3, 0}, {{}, 2, 3, 2}}) {
    EXPECT_RIGHT(two_layers(sizes), line);
    EXPECT_RIGHT(two_layers(sizes), fused);
    EXPECT_EQ(wrong_metas(two_layers(sizes), line), Steps{});
  }
}

TEST_F(Merge, IsRightForStridedInputsAndWeights) {
  for (const auto& strides : std::vector<std::vector<std::int64_t>>{{1, 5}, {20, 2}})
    for (const auto& of_weight : std::vector<std::vector<std::int64_t>>{{3, 1}, {1, 8}, {7, 2}}) {
      const TaskText task = two_layers({{5}, 3, 8, 2}, true, true, {{"strides", strides}}, {{"strides", of_weight}});
      EXPECT_RIGHT(task, fused);
      EXPECT_EQ(wrong_metas(task, line), Steps{});
    }
}

TEST_F(Merge, IsFollowedBySplitAndFuse) { EXPECT_RIGHT(two_layers({{5}, 3, 8, 2}), fused); }

TEST_F(Merge, RefusesWhatWouldCostMoreOrIsNeededElsewhere) {
  EXPECT_REFUSED(two_layers({{5}, 9, 2, 9}), line, "costs more than two through 2");
  EXPECT_REFUSED(two_layers({{5}, 3, 8, 2}), "//! merge linear_1 into linear_2\n", "does not read the result");
  EXPECT_REFUSED(two_layers({{5}, 3, 8, 2}), "//! merge relu_1 into linear_2\n", "not aten::linear");
  EXPECT_REFUSED(two_layers({{5}, 3, 8, 2}), "//! fuse relu_1\n" + line, "is replaced already");
  TaskText returned = two_layers({{5}, 3, 8, 2});
  EXPECT_REFUSED(returned.output("linear_1"), line, "is needed for more than that");
  const std::string kernel =
      "//! kernel k replaces relu_1 : grid=1 block=1 args=(linear_1, relu_1)\n"
      "__global__ void k(const float* x, float* y) {}\n";
  EXPECT_EQ(planned(two_layers({{5}, 3, 8, 2}), line + kernel).status, "ok");
}

TEST_F(Merge, TakesSeveralLayersOneAfterTheOther) {
  TaskText task;
  task.input("x", {7, 12}).weight("a", {16, 12}).weight("b", {14, 16}).weight("c", {9, 14});
  task.node("linear_1", "aten::linear", {"x", "a"}).node("linear_2", "aten::linear", {"linear_1", "b"});
  task.node("linear_3", "aten::linear", {"linear_2", "c"}).output("linear_3");
  EXPECT_RIGHT(task, "//! merge linear_2 into linear_1\n//! merge linear_3 into linear_1\n");
}

}  // namespace
}  // namespace cudal1::testing
