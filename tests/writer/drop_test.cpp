// `drop`: nodes that give back what they are given.
#include <gtest/gtest.h>

#include "meta_check.hpp"

namespace cudal1::testing {
namespace {

using Steps = std::vector<std::string>;

class Drop : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_device(); !why.empty()) GTEST_SKIP() << why;
  }
};

//! tanh -> the node in question, node_1 -> exp
TaskText around(const std::string& op, const nlohmann::json& more_args, const nlohmann::json& more = {}) {
  TaskText task;
  nlohmann::json args = {"tanh_1"};
  args.insert(args.end(), more_args.begin(), more_args.end());
  task.input("x", {3, 5}).node("tanh_1", "aten::tanh", {"x"}).node("node_1", op, args, more);
  task.node("exp_1", "aten::exp", {"node_1"}).output("exp_1");
  return task;
}

//! One argument that is a list.
nlohmann::json list(std::vector<std::int64_t> numbers) { return nlohmann::json::array({numbers}); }

TEST_F(Drop, LeavesOutWhatChangesNothing) {
  const nlohmann::json none = nlohmann::json::array();
  const std::vector<TaskText> tasks = {around("aten::clone", none),
                                       around("aten::mul.Tensor", {1}),
                                       around("aten::div.Tensor", {1.0}),
                                       around("aten::add.Tensor", {0.0}),
                                       around("aten::sub.Tensor", {0}),
                                       around("aten::pow.Tensor_Scalar", {1.0}),
                                       around("aten::constant_pad_nd", list({0, 0, 0, 0})),
                                       around("aten::repeat", list({1, 1}))};
  for (const TaskText& task : tasks) {
    const Verdict verdict = judged(task, "//! drop node_1\n");
    EXPECT_EQ(verdict.status, "ok") << verdict.message << task.json();
    EXPECT_EQ(verdict.steps, (Steps{"op tanh_1", "op exp_1"})) << task.json();
    EXPECT_EQ(wrong_metas(task, "//! drop node_1\n"), Steps{});
  }
}

//! The node in question reads the input itself.
TaskText first_node(const std::string& op, const nlohmann::json& more_args, const std::vector<std::int64_t>& shape,
                    const nlohmann::json& of_input = {}) {
  TaskText task;
  nlohmann::json args = {"x"};
  args.insert(args.end(), more_args.begin(), more_args.end());
  task.input("x", shape, of_input).node("node_1", op, args).node("exp_1", "aten::exp", {"node_1"}).output("exp_1");
  return task;
}

TEST_F(Drop, IsRightForOddSizesAndWithoutElements) {
  for (const auto& shape : std::vector<std::vector<std::int64_t>>{{}, {1}, {1031}, {31, 37}, {0}, {3, 0, 7}})
    for (const char* after : {"", "//! fuse exp_1\n"}) {
      const TaskText task = first_node("aten::mul.Tensor", {1.0}, shape);
      EXPECT_RIGHT(task, std::string("//! drop node_1\n") + after);
      EXPECT_EQ(wrong_metas(task, "//! drop node_1\n"), Steps{});
    }
}

//! Dense tensors keep their strides in every pointwise node; others are copied into order, which is no identity.
TEST_F(Drop, KeepsStridesAndRefusesToLoseThem) {
  const TaskText dense = first_node("aten::add.Tensor", {0}, {5, 7}, {{"strides", {1, 5}}});
  EXPECT_RIGHT(dense, "//! drop node_1\n//! fuse exp_1\n");
  EXPECT_EQ(wrong_metas(dense, "//! drop node_1\n"), Steps{});
  for (const auto& strides : std::vector<std::vector<std::int64_t>>{{20, 2}, {3, 31}}) {
    const TaskText apart = first_node("aten::add.Tensor", {0}, {5, 7}, {{"strides", strides}});
    EXPECT_REFUSED(apart, "//! drop node_1\n", "no identity");
    EXPECT_RIGHT(apart, "//! fuse node_1 exp_1\n");
  }
}

TEST_F(Drop, FollowsChainsOfTheSameAndFusesAcrossThem) {
  TaskText task;
  task.input("x", {7, 3}).node("relu_1", "aten::relu", {"x"}).node("relu_2", "aten::relu", {"relu_1"});
  task.node("relu_3", "aten::relu", {"relu_2"}).node("t_1", "aten::t", {"relu_3"});
  task.node("exp_1", "aten::exp", {"t_1"}).output("exp_1");
  EXPECT_EQ(judged(task, "//! drop relu_*\n//! fuse relu_1 exp_1\n").steps, Steps{"launch fuse_exp_1"});
  EXPECT_RIGHT(task, "//! drop relu_2 relu_3\n//! fuse relu_1 relu_2 exp_1\n");
  EXPECT_EQ(wrong_metas(task, "//! drop relu_2 relu_3\n"), Steps{});
}

TEST_F(Drop, TakesConstantsAwayThatNobodyElseReads) {
  TaskText task;
  task.input("x", {7, 3}).node("exp_1", "aten::exp", {"x"}).node("ones_1", "aten::ones_like", {"x"});
  task.node("mul_1", "aten::mul.Tensor", {"ones_1", "exp_1"}).node("neg_1", "aten::neg", {"mul_1"}).output("neg_1");
  const Verdict verdict = judged(task, "//! drop mul_1\n");
  EXPECT_EQ(verdict.status, "ok") << verdict.message;
  EXPECT_EQ(verdict.steps, (Steps{"op exp_1", "op neg_1"}));
  EXPECT_REFUSED(task, "//! fuse ones_1\n//! drop mul_1\n", "takes away node 'ones_1'");
}

TEST_F(Drop, RefusesWhatIsNotProven) {
  EXPECT_REFUSED(around("aten::mul.Tensor", {2}), "//! drop node_1\n", "is not proven");
  EXPECT_REFUSED(around("aten::relu", nlohmann::json::array()), "\n//! drop node_1\n", "is not proven");
  EXPECT_REFUSED(around("aten::constant_pad_nd", list({0, 1})), "//! drop node_1\n", "is not proven");
  EXPECT_REFUSED(around("aten::clone", nlohmann::json::array()), "//! drop *\n//! drop node_1\n", "a view already");
  EXPECT_REFUSED(around("aten::dropout", {0.5, false}), "//! drop node_1\n", "a view already, and costs nothing");
}

TEST_F(Drop, RefusesCopiesIntoAnotherLayout) {
  TaskText task;
  task.input("x", {7, 3}).node("t_1", "aten::t", {"x"}).node("contiguous_1", "aten::contiguous", {"t_1"});
  task.node("exp_1", "aten::exp", {"contiguous_1"}).output("exp_1");
  EXPECT_REFUSED(task, "//! drop contiguous_1\n", "which is no identity");
}

TEST_F(Drop, LeavesEveryResultOfTheTaskItsOwnMemory) {
  TaskText task;
  task.input("x", {7, 3}).node("exp_1", "aten::exp", {"x"}).node("clone_1", "aten::clone", {"exp_1"});
  task.node("clone_2", "aten::clone", {"x"}).node("clone_3", "aten::clone", {"exp_1"});
  TaskText one = task, both = task;
  EXPECT_RIGHT(one.output("clone_1"), "//! drop clone_1\n");
  EXPECT_REFUSED(both.output("clone_1").output("clone_3"), "//! drop clone_1 clone_3\n", "memory of its own");
  EXPECT_REFUSED(task.output("clone_2"), "//! drop clone_2\n", "memory of its own beside 'x'");
}

TEST_F(Drop, RefusesAliasesOfStates) {
  TaskText task;
  task.input("x", {3}).state("s", {3}).node("clone_1", "aten::clone", {"s"});
  task.node("add_1", "aten::add_.Tensor", {"s", "x"}, {{"writes_state", {"s"}}});
  task.node("mul_1", "aten::mul.Tensor", {"clone_1", "x"}).output("mul_1");
  EXPECT_REFUSED(task, "//! drop clone_1\n", "'s' is a state");
}

// Whichever of the two goes, the other one's result is then the input itself, or needs memory of its own.
TEST_F(Drop, LeavesTheLastOfAChainThatIsReturnedWhereAPatternChoseIt) {
  TaskText task;
  task.input("x", {5, 7}).node("mul_1", "aten::mul.Tensor", {"x", 1.0}).node("add_1", "aten::add.Tensor", {"mul_1", 0});
  task.node("abs_1", "aten::abs", {"x"}).node("relu_1", "aten::relu", {"abs_1"});
  task.node("exp_1", "aten::exp", {"relu_1"}).output("add_1").output("exp_1");
  const Verdict verdict = judged(task, "//! drop *\n");
  EXPECT_EQ(verdict.status, "ok") << verdict.message;
  EXPECT_EQ(verdict.steps, (Steps{"op add_1", "op abs_1", "op exp_1"}));
  EXPECT_REFUSED(task, "//! drop mul_1 add_1\n", "memory of its own");
}

TEST_F(Drop, RefusesWhatOverflowsOrMayBeNegative) {
  TaskText integers;
  integers.input("x", {9}, {{"dtype", "i32"}, {"draw", {{"kind", "integers"}, {"low", 40000}, {"high", 60000}}}});
  integers.node("square_1", "aten::square", {"x"}).node("relu_1", "aten::relu", {"square_1"}).output("relu_1");
  EXPECT_REFUSED(integers, "//! drop relu_1\n", "not proven");
  TaskText softplus;
  softplus.input("x", {4, 8}).node("softplus_1", "aten::softplus", {"x", -1.0});
  softplus.node("relu_1", "aten::relu", {"softplus_1"}).output("relu_1");
  EXPECT_REFUSED(softplus, "//! drop relu_1\n", "not proven");
}

//! The kernel was written for memory that begins where 16 bytes may be loaded at once.
TEST_F(Drop, RefusesWhatAKernelAboveReads) {
  TaskText task;
  task.input("x", {1025}).node("slice_1", "aten::slice.Tensor", {"x", 0, 1, 1025});
  task.node("clone_1", "aten::clone", {"slice_1"}).node("exp_1", "aten::exp", {"clone_1"}).output("exp_1");
  EXPECT_REFUSED(task, "//! fuse exp_1\n//! drop clone_1\n", "fuse");
  EXPECT_RIGHT(task, "//! drop clone_1\n//! fuse exp_1\n");
}

}  // namespace
}  // namespace cudal1::testing
