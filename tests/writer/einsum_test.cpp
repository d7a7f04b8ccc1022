// `fuse` of products that are written as equations.
#include <gtest/gtest.h>

#include "technique_harness.hpp"
#include "writer/fused/einsum_product.hpp"

namespace cudal1::testing {
namespace {

using nlohmann::json;
using Sizes = std::vector<std::int64_t>;

class Einsum : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_device(); !why.empty()) GTEST_SKIP() << why;
  }
};

TaskText equation(const std::string& text, const Sizes& x, const Sizes& y, const json& x_more = {}) {
  TaskText task;
  task.input("x", x, x_more).input("y", y);
  task.node("einsum_1", "aten::einsum", json::array({{{"string", text}}, {"x", "y"}}));
  task.node("relu_1", "aten::relu", {"einsum_1"}).output("relu_1");
  return task;
}

constexpr const char* fused = "//! fuse einsum_1 relu_1\n";

TEST_F(Einsum, IsOneLaunchOfAProduct) {
  const Verdict verdict =
      judged(equation("bijl,lk->bijk", {2, 3, 17, 40}, {40, 37}), "//! fuse einsum_1 relu_1 : split=1\n");
  EXPECT_EQ(verdict.status, "ok") << verdict.message;
  EXPECT_EQ(verdict.steps, std::vector<std::string>{"launch fuse_relu_1"});
  EXPECT_EQ(verdict.techniques, std::vector<std::string>{"matmul"});
}

TEST_F(Einsum, AnyOrderOfLettersInTheOperandsIsRight) {
  EXPECT_RIGHT(equation("bhid,bhjd->bhij", {2, 3, 5, 8}, {2, 3, 7, 8}), fused);
  EXPECT_RIGHT(equation("b i k, k b j -> b i j", {2, 5, 19}, {19, 2, 11}), fused);
  EXPECT_RIGHT(equation("kaib,jk->aibj", {13, 2, 5, 3}, {7, 13}), fused);
  EXPECT_RIGHT(equation("lk,bil->bik", {8, 6}, {2, 9, 8}), fused);
}

TEST_F(Einsum, ColumnsOfTheSecondMayComeFirst) {
  EXPECT_RIGHT(equation("ik,jk->ji", {33, 20}, {35, 20}), fused);
  EXPECT_RIGHT(equation("bnk,bmk->bmn", {3, 10, 12}, {3, 21, 12}), fused);
}

TEST_F(Einsum, VectorsAndSingleElementsAreRight) {
  EXPECT_RIGHT(equation("bk,k->b", {9, 31}, {31}), fused);
  EXPECT_RIGHT(equation("bk,bk->b", {9, 31}, {9, 31}), fused);
  EXPECT_RIGHT(equation("ik,kj->ij", {1, 1}, {1, 1}), fused);
}

TEST_F(Einsum, DimensionsOfSizeOneAreBroadcast) {
  EXPECT_RIGHT(equation("bik,bkj->bij", {1, 5, 20}, {3, 20, 7}), fused);
}

TEST_F(Einsum, StridedOperandsAreRight) {
  EXPECT_RIGHT(equation("bik,kj->bij", {2, 21, 16}, {16, 18}, {{"strides", {16, 32, 1}}}), fused);
}

std::optional<EinsumProduct> read(const char* text, std::size_t operands) {
  Node node;
  node.op = "aten::einsum";
  node.args = {std::string(text), ValueList(operands)};
  return einsum_product(node);
}

TEST(EinsumProduct, KnowsBatchesRowsAndColumns) {
  const auto product = read("bkj,bik->bij", 2);
  ASSERT_TRUE(product);
  EXPECT_EQ(product->left_operand, 1u) << "its letters come first in the result";
  EXPECT_EQ(product->depth, 'k');
  EXPECT_EQ(product->batches, 1u);
  EXPECT_EQ(product->rows, 1u);
  EXPECT_EQ(product->columns, 1u);
}

TEST(EinsumProduct, OthersAreLeftToTheLibrary) {
  EXPECT_TRUE(read("ij,jk->ik", 2));
  EXPECT_FALSE(read("ij,jk->ik", 3));
  for (const char* text : {"ij,kl->ijkl", "bij,bjk", "ij,jk->i", "iij,jk->ik", "...ij,jk->...ik", "ij,jk->iik",
                           "lk,bil->bki", "bihk,bkj->hbij", "ijk,jkl->il", "ij->ji", "ij,jk,kl->il", "->", ""})
    EXPECT_FALSE(read(text, 2)) << text;
}

}  // namespace
}  // namespace cudal1::testing
