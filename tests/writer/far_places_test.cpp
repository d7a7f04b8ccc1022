// Every technique where elements lie further apart than 32 bits can count: a place that is computed in 32 bits leads
// elsewhere, and the result shows it.
#include <gtest/gtest.h>

#include "sparse_run.hpp"

namespace cudal1::testing {
namespace {

using nlohmann::json;
using Sizes = std::vector<std::int64_t>;

class FarPlaces : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_device(); !why.empty()) GTEST_SKIP() << why;
  }
};

//! Elements from the first to the last: more than 32 bits count, and on a GPU, whose memory must hold them several
//! times, more than 31 do.
std::int64_t far() { return (std::int64_t{1} << (is_on_gpu() ? 31 : 32)) + 8; }

//! Strides with which the first dimension goes that far, in steps of whole vectors.
json far_apart(const Sizes& sizes) {
  Sizes strides(sizes.size(), 1);
  for (std::size_t d = sizes.size() - 1; d > 0; --d) strides[d - 1] = strides[d] * sizes[d];
  strides[0] = (far() / (sizes[0] - 1) / 8 + 1) * 8;
  return {{"strides", strides}};
}

std::string verdict_of(const TaskText& task, const std::string& program) {
  if (!is_on_gpu()) return sparse_verdict(task, program);
  const Verdict verdict = judged(task, program);
  return verdict.status == "ok" ? verdict.status : verdict.status + ": " + verdict.message;
}

TaskText of_input(const Sizes& sizes) {
  TaskText task;
  task.input("x", sizes, far_apart(sizes));
  return task;
}

TEST_F(FarPlaces, PointwiseReadsAndWritesThem) {
  TaskText task = of_input({2, 5});
  task.weight("b", {5}).node("add_1", "aten::add.Tensor", {"x", "b"}).node("gelu_1", "aten::gelu", {"add_1"});
  EXPECT_EQ(verdict_of(task.output("gelu_1"), "//! fuse add_1 gelu_1\n"), "ok");
  TaskText vectors = of_input({3, 64});
  vectors.node("exp_1", "aten::exp", {"x"}).output("exp_1");
  EXPECT_EQ(verdict_of(vectors, "//! fuse exp_1 : vector=4\n"), "ok");
  TaskText state;
  state.input("x", {2, 8}).state("s", {2, 8}, far_apart({2, 8})).node("relu_1", "aten::relu", {"x"});
  state.node("add_1", "aten::add_.Tensor", {"s", "relu_1"}, {{"writes_state", {"s"}}}).output("relu_1");
  EXPECT_EQ(verdict_of(state, "//! fuse relu_1 add_1\n"), "ok");
}

TEST_F(FarPlaces, RowsAreReduced) {
  for (const int dim : {0, 1}) {
    TaskText task = of_input({3, 40});
    task.node("softmax_1", "aten::softmax.int", {"x", dim}).output("softmax_1");
    EXPECT_EQ(verdict_of(task, "//! fuse softmax_1\n"), "ok") << dim;
    TaskText sum = of_input({3, 40});
    sum.node("sum_1", "aten::sum.dim_IntList", {"x", json::array({dim})}).output("sum_1");
    EXPECT_EQ(verdict_of(sum, "//! fuse sum_1\n"), "ok") << dim;
  }
  TaskText largest = of_input({2, 640});
  largest.node("amax_1", "aten::amax", {"x", json::array({1})}).output("amax_1");
  EXPECT_EQ(verdict_of(largest, "//! fuse amax_1 : split=2\n"), "ok");
}

TEST_F(FarPlaces, RowsAreAddedUpOneAfterAnother) {
  for (const int dim : {0, 1}) {
    TaskText task = of_input({3, 40});
    task.node("cumsum_1", "aten::cumsum", {"x", dim}).output("cumsum_1");
    EXPECT_EQ(verdict_of(task, "//! fuse cumsum_1\n"), "ok") << dim;
  }
}

TEST_F(FarPlaces, WindowsAreFound) {
  TaskText pool = of_input({2, 6, 8, 8});
  pool.node("pool_1", "aten::max_pool2d", {"x", {3, 3}, {2, 2}, {1, 1}}).output("pool_1");
  EXPECT_EQ(verdict_of(pool, "//! fuse pool_1\n"), "ok");
  TaskText depthwise = of_input({2, 6, 8, 8});
  depthwise.weight("w", {6, 1, 3, 3}).node("conv_1", "aten::conv2d", {"x", "w", nullptr, {1, 1}, {1, 1}, {1, 1}, 6});
  EXPECT_EQ(verdict_of(depthwise.output("conv_1"), "//! fuse conv_1\n"), "ok");
  TaskText dense = of_input({2, 16, 8, 8});
  dense.weight("w", {8, 16, 3, 3}).node("conv_1", "aten::conv2d", {"x", "w", nullptr, {1, 1}, {1, 1}});
  EXPECT_EQ(verdict_of(dense.output("conv_1"), "//! fuse conv_1\n"), "ok");
}

TEST_F(FarPlaces, OperandsOfProductsAreFound) {
  for (const char* math : {"tf32x3", "fp32", "wgmma"}) {
    TaskText left = of_input({33, 40});
    left.input("y", {40, 37}).node("mm_1", "aten::mm", {"x", "y"}).output("mm_1");
    EXPECT_EQ(verdict_of(left, std::string("//! fuse mm_1 : math=") + math + "\n"), "ok") << math;
    TaskText right;
    right.input("x", {33, 40}).input("y", {40, 37}, far_apart({40, 37})).node("mm_1", "aten::mm", {"x", "y"});
    EXPECT_EQ(verdict_of(right.output("mm_1"), std::string("//! fuse mm_1 : math=") + math + "\n"), "ok") << math;
  }
  TaskText batches = of_input({2, 33, 40});
  batches.input("y", {2, 40, 37}).node("bmm_1", "aten::bmm", {"x", "y"}).output("bmm_1");
  EXPECT_EQ(verdict_of(batches, "//! fuse bmm_1\n"), "ok");
  TaskText rows = of_input({33, 40});
  rows.weight("w", {37, 40}).node("linear_1", "aten::linear", {"x", "w"});
  rows.node("sum_1", "aten::sum.dim_IntList", {"linear_1", json::array({1})}).output("sum_1");
  EXPECT_EQ(verdict_of(rows, "//! fuse linear_1 sum_1\n"), "ok");
  EXPECT_EQ(verdict_of(rows, "//! fuse linear_1 sum_1 : tile=32x32x32\n"), "ok");
}

TEST_F(FarPlaces, ShareAndDropKeepThem) {
  TaskText twice = of_input({5, 7});
  twice.node("exp_1", "aten::exp", {"x"}).node("exp_2", "aten::exp", {"x"});
  twice.node("mul_1", "aten::mul.Tensor", {"exp_1", "exp_2"}).output("mul_1");
  EXPECT_EQ(verdict_of(twice, "//! share exp_1 exp_2\n//! fuse exp_1 mul_1\n"), "ok");
  TaskText same = of_input({5, 7});
  same.node("tanh_1", "aten::tanh", {"x"}).node("mul_1", "aten::mul.Tensor", {"tanh_1", 1});
  same.node("exp_1", "aten::exp", {"mul_1"}).output("exp_1");
  EXPECT_EQ(verdict_of(same, "//! drop mul_1\n//! fuse tanh_1 exp_1\n"), "ok");
}

TEST_F(FarPlaces, HoistFoldMergeAndSplitTakeSuchWeights) {
  TaskText task = of_input({5, 3});
  task.weight("w", {7, 3}, far_apart({7, 3})).weight("b", {7}).weight("v", {7});
  task.weight("w2", {4, 7}, far_apart({4, 7})).node("exp_1", "aten::tanh", {"w"});
  task.node("linear_1", "aten::linear", {"x", "exp_1", "b"}).node("mul_1", "aten::mul.Tensor", {"linear_1", "v"});
  task.node("linear_2", "aten::linear", {"mul_1", "w2"}).node("relu_1", "aten::relu", {"linear_2"}).output("relu_1");
  EXPECT_EQ(verdict_of(task, "//! hoist exp_1\n//! fuse exp_1\n//! fuse linear_1 mul_1\n"), "ok");
  EXPECT_EQ(verdict_of(task, "//! fold mul_1 into linear_1\n"), "ok");
  EXPECT_EQ(verdict_of(task, "//! fold mul_1 into linear_1\n//! merge linear_2 into linear_1\n"), "ok");
  EXPECT_EQ(verdict_of(task, "//! split linear_1\n//! fuse linear_1_bias mul_1\n"), "ok");
}

TEST_F(FarPlaces, CommuteSimplifyAndLayoutReadThem) {
  TaskText pooled = of_input({3, 7, 4});
  pooled.weight("w", {5, 4}).node("linear_1", "aten::linear", {"x", "w"});
  pooled.node("mean_1", "aten::mean.dim", {"linear_1", json::array({1})}).output("mean_1");
  EXPECT_EQ(verdict_of(pooled, "//! commute mean_1 linear_1\n//! fuse mean_1\n"), "ok");
  TaskText diagonal = of_input({7, 5});
  diagonal.input("v", {7}).node("diag_1", "aten::diag", {"v"}).node("mm_1", "aten::mm", {"diag_1", "x"}).output("mm_1");
  EXPECT_EQ(verdict_of(diagonal, "//! simplify mm_1\n//! fuse mm_1\n"), "ok");
  TaskText image = of_input({2, 3, 7, 5});
  image.weight("w", {6, 3, 3, 3}).node("conv2d_1", "aten::conv2d", {"x", "w"}).output("conv2d_1");
  EXPECT_EQ(verdict_of(image, "//! layout conv2d_1 channels_last\n//! fuse conv2d_1_input\n"), "ok");
}

//! A tensor of 2^32 elements and more would have to be computed twice over in fp64 to be judged: no GPU holds that.
class ManyElements : public FarPlaces {
 protected:
  void SetUp() override {
    FarPlaces::SetUp();
    if (is_on_gpu()) GTEST_SKIP() << "such results, with what they are compared with, do not fit a GPU's memory";
  }
};

const json bytes = {{"dtype", "i8"}, {"draw", {{"kind", "integers"}, {"low", -9}, {"high", 9}}}};

TEST_F(ManyElements, PointwiseCountsThem) {
  const auto negated = [](const Sizes& sizes) {
    TaskText task;
    return task.input("x", sizes, bytes).node("neg_1", "aten::neg", {"x"}).output("neg_1");
  };
  EXPECT_EQ(corner_verdict(negated({3, 1431655777}), negated({1, 16}), "//! fuse neg_1\n"), "ok");
}

TEST_F(ManyElements, RowsCountThem) {
  const auto reduced = [](const Sizes& sizes) {
    TaskText task;
    return task.input("x", sizes, bytes).node("amax_1", "aten::amax", {"x", json::array({1})}).output("amax_1");
  };
  EXPECT_EQ(corner_verdict(reduced({1431655777, 3}), reduced({2, 3}), "//! fuse amax_1\n"), "ok");
}

TEST_F(ManyElements, ProductsCountTheirResults) {
  const auto product = [](std::int64_t rows, std::int64_t columns) {
    const json half = {{"dtype", "bf16"}};
    TaskText task;
    task.input("x", {rows, 32}, half).input("y", {32, columns}, half).node("mm_1", "aten::mm", {"x", "y"});
    return task.output("mm_1");
  };
  EXPECT_EQ(corner_verdict(product(65600, 65608), product(16, 8), "//! fuse mm_1 : tile=64x64x32 split=1\n"), "ok");
}

TEST_F(ManyElements, ConvolutionsCountTheirBatches) {
  const auto convolved = [](std::int64_t batches, std::int64_t side) {
    TaskText task;
    task.input("x", {batches, 16, side, side}).weight("w", {8, 16, 3, 3});
    return task.node("conv_1", "aten::conv2d", {"x", "w"}).output("conv_1");
  };
  EXPECT_EQ(corner_verdict(convolved(17, 4096), convolved(1, 3), "//! fuse conv_1\n"), "ok");
}

}  // namespace
}  // namespace cudal1::testing
