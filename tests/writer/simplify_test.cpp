// `simplify`: products with a diagonal matrix.
#include <gtest/gtest.h>

#include "meta_check.hpp"

namespace cudal1::testing {
namespace {

using Steps = std::vector<std::string>;

class Simplify : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_device(); !why.empty()) GTEST_SKIP() << why;
  }
};

TaskText scaled(bool from_the_left, std::int64_t rows, std::int64_t columns) {
  TaskText task;
  task.input("v", {from_the_left ? rows : columns}).input("b", {rows, columns}).node("diag_1", "aten::diag", {"v"});
  task.node("matmul_1", "aten::matmul", from_the_left ? nlohmann::json{"diag_1", "b"} : nlohmann::json{"b", "diag_1"});
  return task.output("matmul_1");
}

TEST_F(Simplify, MultipliesRowsOrColumns) {
  for (const bool left : {true, false})
    for (const auto& [rows, columns] : {std::pair{1, 1}, {7, 13}, {5, 1}, {1, 5}, {31, 1031}}) {
      const Verdict verdict = judged(scaled(left, rows, columns), "//! simplify matmul_1\n//! fuse matmul_1\n");
      EXPECT_EQ(verdict.status, "ok") << verdict.message;
      EXPECT_EQ(verdict.steps, (Steps{"launch fuse_matmul_1"}));
      EXPECT_EQ(wrong_metas(scaled(left, rows, columns), "//! simplify matmul_1\n"), Steps{});
    }
}

TEST_F(Simplify, IsRightWithoutElementsAndForStrides) {
  for (const bool left : {true, false}) {
    EXPECT_RIGHT(scaled(left, 0, 5), "//! simplify matmul_1\n");
    EXPECT_RIGHT(scaled(left, 5, 0), "//! simplify matmul_1\n//! fuse matmul_1\n");
  }
  for (const auto& strides : std::vector<std::vector<std::int64_t>>{{1, 9}, {20, 2}, {1, 7}}) {
    TaskText apart;
    apart.input("v", {7}, {{"strides", {3}}}).input("b", {7, 5}, {{"strides", strides}});
    apart.node("diag_1", "aten::diag", {"v"}).node("mm_1", "aten::mm", {"diag_1", "b"}).output("mm_1");
    EXPECT_RIGHT(apart, "//! simplify mm_1\n");
    EXPECT_RIGHT(apart, "//! simplify mm_1\n//! fuse mm_1\n");
  }
}

TEST_F(Simplify, KeepsTheMatrixThatOthersRead) {
  TaskText task = scaled(true, 3, 4);
  EXPECT_RIGHT(task.output("diag_1"), "//! simplify *\n");
  EXPECT_EQ(planned(task, "//! simplify *\n").steps, (Steps{"op diag_1", "op matmul_1"}));
}

TEST_F(Simplify, RefusesOtherProducts) {
  TaskText task;
  task.input("a", {3, 3}).input("b", {3, 3}).node("mm_1", "aten::mm", {"a", "b"}).output("mm_1");
  EXPECT_REFUSED(task, "//! simplify mm_1\n", "neither matrix is made by aten::diag");
  TaskText shifted;
  shifted.input("v", {3}).input("b", {4, 4}).node("diag_1", "aten::diag", {"v", 1});
  shifted.node("mm_1", "aten::mm", {"diag_1", "b"}).output("mm_1");
  EXPECT_REFUSED(shifted, "//! simplify mm_1\n", "neither matrix is made by aten::diag");
  EXPECT_REFUSED(shifted, "\n//! simplify diag_1\n", "no product of two matrices");
}

}  // namespace
}  // namespace cudal1::testing
