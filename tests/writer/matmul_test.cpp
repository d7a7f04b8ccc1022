// `fuse` of a matrix product with pointwise nodes before and after it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "technique_harness.hpp"

namespace cudal1::testing {
namespace {

using nlohmann::json;

class Matmul : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_device(); !why.empty()) GTEST_SKIP() << why;
  }
};

TaskText linear_gelu(std::int64_t rows, std::int64_t columns, std::int64_t depth) {
  TaskText task;
  task.input("x", {rows, depth}).weight("w", {columns, depth}).weight("b", {columns});
  task.node("linear_1", "aten::linear", {"x", "w", "b"}).node("gelu_1", "aten::gelu", {"linear_1"}).output("gelu_1");
  return task;
}

TEST_F(Matmul, IsRightForOddSizes) {
  for (const auto& [rows, columns, depth] : {std::tuple{64, 64, 64}, {7, 13, 5}, {70, 90, 37}, {129, 65, 100}})
    EXPECT_RIGHT(linear_gelu(rows, columns, depth), "//! fuse linear_1 gelu_1 : tile=64x64x32\n");
}

}  // namespace
}  // namespace cudal1::testing
