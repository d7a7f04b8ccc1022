// `fuse` of nodes that are computed element by element.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "technique_harness.hpp"

namespace cudal1::testing {
namespace {

class Pointwise : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_device(); !why.empty()) GTEST_SKIP() << why;
  }
};

TaskText bias_gelu(std::int64_t rows, std::int64_t columns) {
  TaskText task;
  task.input("x", {rows, columns}).weight("bias", {columns});
  task.node("add_1", "aten::add.Tensor", {"x", "bias"}).node("gelu_1", "aten::gelu", {"add_1"}).output("gelu_1");
  return task;
}

TEST_F(Pointwise, MakesOneLaunchOfAChain) {
  const Verdict verdict = judged(bias_gelu(7, 12), "//! fuse add_1 gelu_1\n");
  EXPECT_EQ(verdict.status, "ok") << verdict.message;
  ASSERT_EQ(verdict.steps.size(), 1u);
  EXPECT_EQ(verdict.steps.front().substr(0, 7), "launch ");
  EXPECT_EQ(verdict.techniques, std::vector<std::string>{"pointwise"});
}

TEST_F(Pointwise, IsRightForOddSizes) {
  for (const auto& [rows, columns] : {std::pair{1, 1}, {1, 7}, {13, 1}, {31, 37}, {5, 1030}})
    EXPECT_RIGHT(bias_gelu(rows, columns), "//! fuse add_1 gelu_1\n");
}

TEST_F(Pointwise, KernelsThatDifferOnlyInNamesAreWrittenOnce) {
  TaskText task;
  task.input("x", {5, 8}).input("y", {5, 8}).input("z", {5, 9});
  for (const char* name : {"x", "y", "z"})
    task.node(std::string("exp_") + name, "aten::exp", {name}).output(std::string("exp_") + name);
  const Verdict verdict = judged(task, "//! fuse exp_x\n//! fuse exp_y\n//! fuse exp_z\n");
  EXPECT_EQ(verdict.status, "ok") << verdict.message;
  EXPECT_EQ(verdict.steps, (std::vector<std::string>{"launch fuse_exp_x", "launch fuse_exp_x", "launch fuse_exp_z"}));
}

TEST_F(Pointwise, RefusesNodesItCannotWrite) {
  EXPECT_REFUSED(bias_gelu(4, 4), "//! fuse add_1 nothing_1\n", "nothing_1");
}

}  // namespace
}  // namespace cudal1::testing
