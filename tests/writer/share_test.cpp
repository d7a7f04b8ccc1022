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
TaskText twice() {
  TaskText task;
  task.input("x", {5, 7}).node("exp_1", "aten::exp", {"x"}).node("exp_2", "aten::exp", {"x"});
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
