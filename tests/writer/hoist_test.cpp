// `hoist`: what depends on weights alone is computed when they change.
#include <gtest/gtest.h>

#include "meta_check.hpp"

namespace cudal1::testing {
namespace {

using Steps = std::vector<std::string>;

class Hoist : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_device(); !why.empty()) GTEST_SKIP() << why;
  }
};

//! x · (softplus(w) + 1)ᵀ + a table of constants
TaskText scaled_weight(std::int64_t rows = 5, std::int64_t in = 3, std::int64_t out = 7,
                       const nlohmann::json& of_weight = {}, const nlohmann::json& of_input = {}) {
  TaskText task;
  task.input("x", {rows, in}, of_input).weight("fc.weight", {out, in}, of_weight);
  task.node("softplus_1", "aten::softplus", {"fc.weight"});
  task.node("add_1", "aten::add.Tensor", {"softplus_1", 1.0}).node("t_1", "aten::t", {"add_1"});
  const nlohmann::json floats = {{"kwargs", {{"dtype", {{"dtype", "f32"}}}}}};
  task.node("mm_1", "aten::mm", {"x", "t_1"}).node("ones_1", "aten::ones", {{out}}, floats);
  task.node("cumsum_1", "aten::cumsum", {"ones_1", 0}).node("add_2", "aten::add.Tensor", {"mm_1", "cumsum_1"});
  task.output("add_2");
  return task;
}

TEST_F(Hoist, RunsWeightsOnlyNodesInPrepare) {
  const Verdict verdict = judged(scaled_weight(), "//! hoist add_1 cumsum_1\n");
  EXPECT_EQ(verdict.status, "ok") << verdict.message;
  EXPECT_EQ(verdict.prepared, (Steps{"op softplus_1", "op add_1", "op ones_1", "op cumsum_1"}));
  EXPECT_EQ(verdict.steps, (Steps{"op mm_1", "op add_2"}));
  EXPECT_EQ(verdict.techniques, Steps{"hoist"});
}

TEST_F(Hoist, IsRightForOddSizes) {
  for (const auto& [rows, in, out] : {std::tuple{1, 1, 1}, {13, 31, 17}, {0, 3, 4}})
    EXPECT_RIGHT(scaled_weight(rows, in, out), "//! hoist *\n");
}

const std::string fused = "//! hoist *\n//! fuse softplus_1 add_1\n//! fuse mm_1 add_2\n";

TEST_F(Hoist, IsRightWhereWeightsAreEmpty) {
  for (const auto& [rows, in, out] : {std::tuple{3, 0, 4}, {3, 4, 0}, {0, 0, 0}}) {
    EXPECT_RIGHT(scaled_weight(rows, in, out), "//! hoist *\n");
    EXPECT_RIGHT(scaled_weight(rows, in, out), "//! hoist *\n//! fuse softplus_1 add_1\n//! fuse add_2\n");
  }
}

TEST_F(Hoist, IsRightForStridedWeightsAndInputs) {
  for (const auto& strides : std::vector<std::vector<std::int64_t>>{{1, 7}, {20, 2}, {2, 31}}) {
    const TaskText task = scaled_weight(5, 3, 7, {{"strides", strides}}, {{"strides", {1, 9}}});
    EXPECT_RIGHT(task, "//! hoist *\n");
    EXPECT_RIGHT(task, fused);
    EXPECT_EQ(wrong_metas(task, "//! hoist *\n"), Steps{});
  }
}

TEST_F(Hoist, LetsHoistedNodesBeFused) {
  const Verdict verdict =
      judged(scaled_weight(), "//! hoist add_1 cumsum_1\n//! fuse softplus_1 add_1\n//! fuse add_2\n");
  EXPECT_EQ(verdict.status, "ok") << verdict.message;
  EXPECT_EQ(verdict.prepared, (Steps{"launch fuse_add_1", "op ones_1", "op cumsum_1"}));
  EXPECT_EQ(verdict.steps, (Steps{"op mm_1", "launch fuse_add_2"}));
}

TEST_F(Hoist, WorksInsideAGraph) { EXPECT_RIGHT(scaled_weight(), "//! hoist add_1 cumsum_1\n//! graph\n"); }

TEST_F(Hoist, HoistsReductionsWithTheirScratch) {
  TaskText task;
  task.input("x", {4, 33}).weight("w", {1, 40000}).node("sum_1", "aten::sum.dim_IntList", {"w", {1}, true});
  task.node("mul_1", "aten::mul.Tensor", {"x", "sum_1"}).output("mul_1");
  const Verdict verdict = judged(task, "//! hoist sum_1\n//! fuse sum_1 : split=4\n//! fuse mul_1\n");
  EXPECT_EQ(verdict.status, "ok") << verdict.message << verdict.code;
  EXPECT_EQ(verdict.steps, (Steps{"launch fuse_mul_1"}));
  EXPECT_EQ(verdict.prepared.size(), 2u);
}

TEST_F(Hoist, RefusesWhatDependsOnACall) {
  EXPECT_REFUSED(scaled_weight(), "\n//! hoist mm_1\n", "'x' is an input, another one in every call");
  EXPECT_REFUSED(scaled_weight(), "//! hoist add_2\n", "every call must return its result");
  EXPECT_REFUSED(scaled_weight(), "//! hoist t_1\n", "it is a view");
  EXPECT_REFUSED(scaled_weight(), "//! hoist add_1\n//! hoist softplus_1\n", "it is hoisted already");
  TaskText task;
  task.input("x", {3}).state("s", {3}).node("exp_1", "aten::exp", {"s"});
  task.node("mul_1", "aten::mul.Tensor", {"exp_1", "x"}).output("mul_1");
  EXPECT_REFUSED(task, "//! hoist exp_1\n", "'s' is a state");
}

TEST_F(Hoist, RefusesToMixPreparedAndCalledNodes) {
  EXPECT_REFUSED(scaled_weight(), "//! hoist cumsum_1 add_1\n//! fuse cumsum_1 add_2\n", "fuse them apart");
  EXPECT_REFUSED(scaled_weight(), "//! fuse softplus_1\n//! hoist add_1\n", "replaced already, by 'fuse' in line 1");
  const std::string by_hand =
      "//! hoist cumsum_1\n//! kernel k replaces mm_1 add_2 : grid=1 block=1 args=(x, cumsum_1, add_2)\n"
      "__global__ void k(const float* x, const float* c, float* y) {}\n";
  EXPECT_EQ(planned(scaled_weight(), by_hand).status, "ok");
}

//! What the planner finds in text that the writer has added is said of the line that asked for it.
TEST_F(Hoist, NamesALineOfTheProgram) {
  TaskText task;
  task.input("x", {4}).weight("w", {4}).node("mul_1", "aten::mul.Tensor", {"w", 2.0});
  task.node("clone_1", "aten::clone", {"mul_1"}).node("add_1", "aten::add.Tensor", {"x", "mul_1"});
  task.output("add_1").output("clone_1");
  const Verdict verdict = planned(task, "//! hoist mul_1\n//! drop clone_1\n");
  EXPECT_NE(verdict.status, "ok");
  EXPECT_LE(verdict.line, 2) << verdict.message;
  EXPECT_GE(verdict.line, 1) << verdict.message;
}

}  // namespace
}  // namespace cudal1::testing
