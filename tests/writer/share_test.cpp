// `share`: nodes that compute the same become one.
#include <gtest/gtest.h>

#include "meta_check.hpp"

namespace cudal1::testing {
namespace {

using Steps = std::vector<std::string>;

class Share : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_device(); !why.empty()) GTEST_SKIP() << why;
  }
};

//! exp(x) + 2 · sqrt(exp(x)) / …, with each subexpression twice.
TaskText twice(const std::vector<std::int64_t>& shape = {5, 7}, const nlohmann::json& of_input = {}) {
  TaskText task;
  task.input("x", shape, of_input).node("exp_1", "aten::exp", {"x"}).node("exp_2", "aten::exp", {"x"});
  task.node("mul_1", "aten::mul.Tensor", {"exp_1", 2.0}).node("mul_2", "aten::mul.Tensor", {"exp_2", 2.0});
  task.node("sub_1", "aten::sub.Tensor", {"mul_1", 1.0}).node("sub_2", "aten::sub.Tensor", {"mul_2", 3.0});
  task.node("add_1", "aten::add.Tensor", {"sub_1", "sub_2"}).output("add_1");
  return task;
}

TEST_F(Share, ComputesWhatIsTheSameOnce) {
  const Verdict verdict = judged(twice(), "//! share exp_* mul_*\n");
  EXPECT_EQ(verdict.status, "ok") << verdict.message;
  EXPECT_EQ(verdict.steps, (Steps{"op exp_1", "op mul_1", "op sub_1", "op sub_2", "op add_1"}));
  EXPECT_EQ(wrong_metas(twice(), "//! share *\n"), Steps{});
}

TEST_F(Share, CanBeFusedAfterwards) {
  EXPECT_RIGHT(twice(), "//! share *\n//! fuse exp_1 mul_1 sub_1 sub_2 add_1\n");
  EXPECT_RIGHT(twice(), "//! share exp_1 exp_2\n//! fuse exp_1 mul_1 mul_2\n");
}

const std::string fused = "//! share *\n//! fuse exp_1 mul_1 sub_1 sub_2 add_1\n";

TEST_F(Share, IsRightForOddSizesAndWithoutElements) {
  for (const auto& shape : std::vector<std::vector<std::int64_t>>{{}, {1}, {1031}, {31, 37}, {0}, {3, 0, 7}}) {
    EXPECT_RIGHT(twice(shape), "//! share *\n");
    EXPECT_RIGHT(twice(shape), fused);
    EXPECT_EQ(wrong_metas(twice(shape), "//! share *\n"), Steps{});
  }
}

TEST_F(Share, IsRightForStridedInputs) {
  for (const auto& strides : std::vector<std::vector<std::int64_t>>{{1, 5}, {20, 2}, {3, 31}}) {
    const TaskText task = twice({5, 7}, {{"strides", strides}});
    EXPECT_RIGHT(task, "//! share *\n");
    EXPECT_RIGHT(task, fused);
    EXPECT_EQ(wrong_metas(task, "//! share *\n"), Steps{});
  }
}

//! exp of two parts of one input, and of the first of them through another view.
TEST_F(Share, KnowsViewsOfTheSameElementsFromOthers) {
  TaskText task;
  task.input("x", {3, 8}).node("slice_1", "aten::slice.Tensor", {"x", 1, 0, 5});
  task.node("slice_2", "aten::slice.Tensor", {"x", 1, 3, 8}).node("narrow_1", "aten::narrow", {"x", 1, 0, 5});
  task.node("exp_1", "aten::exp", {"slice_1"}).node("exp_2", "aten::exp", {"slice_2"});
  task.node("exp_3", "aten::exp", {"narrow_1"}).node("sub_1", "aten::sub.Tensor", {"exp_1", "exp_2"});
  task.node("add_1", "aten::add.Tensor", {"sub_1", "exp_3"}).output("add_1");
  EXPECT_EQ(planned(task, "//! share *\n").steps, (Steps{"op exp_1", "op exp_2", "op sub_1", "op add_1"}));
  EXPECT_RIGHT(task, "//! share *\n");
  EXPECT_REFUSED(task, "//! share exp_1 exp_2\n", "no two of these nodes");
}

TEST_F(Share, RefusesNodesThatDiffer) {
  EXPECT_REFUSED(twice(), "//! share sub_1 sub_2\n", "no two of these nodes");
  EXPECT_REFUSED(twice(), "\n\n//! share mul_1 mul_2\n", "no two of these nodes");
  EXPECT_REFUSED(twice(), "//! fuse exp_1\n//! share exp_1 exp_2\n", "replaced already, by 'fuse' in line 1");
}

TEST_F(Share, LeavesEveryResultOfTheTaskItsOwnMemory) {
  TaskText task = twice();
  EXPECT_REFUSED(task.output("exp_1").output("exp_2"), "//! share exp_1 exp_2\n", "memory of its own");
  TaskText one = twice();
  EXPECT_RIGHT(one.output("exp_2"), "//! share exp_1 exp_2\n");
}

TEST_F(Share, LeavesRandomNodesAlone) {
  TaskText task;
  task.input("x", {64}).node("rand_1", "aten::rand_like", {"x"}).node("rand_2", "aten::rand_like", {"x"});
  task.node("add_1", "aten::add.Tensor", {"rand_1", "rand_2"}).output("add_1");
  EXPECT_REFUSED(task, "//! share rand_1 rand_2\n", "random numbers of its own");
}

}  // namespace
}  // namespace cudal1::testing
