// `fuse` of a matrix product with reductions over its columns.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "technique_harness.hpp"

namespace cudal1::testing {
namespace {

using nlohmann::json;

class MatmulRows : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_device(); !why.empty()) GTEST_SKIP() << why;
  }
};

struct Op {
  std::string op;
  json args;
  json kwargs = json::object();
  int outputs = 1;
};

const Op sum_of_columns = {"sum.dim_IntList", {"gelu_1", {1}}};

json with_strides(const std::vector<std::int64_t>& strides) { return {{"strides", strides}}; }

//! linear_1, gelu_1, and a reduction of it, r_1.
TaskText reduced_linear(std::int64_t rows, std::int64_t columns, std::int64_t depth, const Op& reduction,
                        const json& more = {}) {
  TaskText task;
  task.input("x", {rows, depth}, more).weight("w", {columns, depth}, more).weight("b", {columns}, more);
  task.node("linear_1", "aten::linear", {"x", "w", "b"}).node("gelu_1", "aten::gelu", {"linear_1"});
  task.node("r_1", "aten::" + reduction.op, reduction.args, {{"kwargs", reduction.kwargs}}).output("r_1");
  for (int i = 1; i < reduction.outputs; ++i) task.output(fmt::format("r_1[{}]", i));
  return task;
}

constexpr const char* fuse = "//! fuse linear_1 gelu_1 r_1\n";
//! Of which a few columns take several.
constexpr const char* small_tiles = "//! fuse linear_1 gelu_1 r_1 : tile=32x32x32\n";

TEST_F(MatmulRows, OneLaunchFinishesRowsThatFitATile) {
  const Verdict verdict = judged(reduced_linear(70, 90, 37, sum_of_columns), fuse);
  EXPECT_EQ(verdict.status, "ok") << verdict.message << verdict.code;
  EXPECT_EQ(verdict.steps, std::vector<std::string>{"launch fuse_r_1"});
  EXPECT_EQ(verdict.techniques, std::vector<std::string>{"matmul_rows"});
}

TEST_F(MatmulRows, ASecondLaunchCombinesTilesOfARow) {
  const Verdict verdict = judged(reduced_linear(40, 300, 37, sum_of_columns), fuse);
  EXPECT_EQ(verdict.status, "ok") << verdict.message << verdict.code;
  EXPECT_EQ(verdict.steps, (std::vector<std::string>{"launch fuse_r_1", "launch fuse_r_1_rows"}));
}

TEST_F(MatmulRows, IsRightForOddSizes) {
  for (const auto& [rows, columns, depth] : {std::tuple{1, 1, 1},
                                             {1, 1, 50},
                                             {1, 67, 20},
                                             {71, 1, 20},
                                             {2, 3, 1},
                                             {7, 13, 5},
                                             {33, 35, 37},
                                             {64, 64, 64},
                                             {129, 66, 40},
                                             {5, 257, 9}}) {
    EXPECT_RIGHT(reduced_linear(rows, columns, depth, sum_of_columns), fuse);
    EXPECT_RIGHT(reduced_linear(rows, columns, depth, sum_of_columns), small_tiles);
  }
}

//! Within one tile and over several, and with what the rule of each makes of its result.
TEST_F(MatmulRows, EveryReductionIsPyTorchs) {
  const json last = json::array({1}), inf = {{"float", "inf"}};
  for (const Op& reduction : {Op{"sum.dim_IntList", {"gelu_1", last, true}},
                              {"mean.dim", {"gelu_1", {-1}}},
                              {"prod.dim_int", {"gelu_1", 1}},
                              {"amax", {"gelu_1", last, true}},
                              {"amin", {"gelu_1", last}},
                              {"max.dim", {"gelu_1", 1}, json::object(), 2},
                              {"min.dim", {"gelu_1", 1, true}, json::object(), 2},
                              {"argmax", {"gelu_1", 1}},
                              {"argmin", {"gelu_1", 1}},
                              {"aminmax", {"gelu_1"}, {{"dim", 1}}, 2},
                              {"var.correction", {"gelu_1", last}, {{"correction", 1}}},
                              {"std.correction", {"gelu_1", last}, {{"correction", 0}}},
                              {"var_mean.correction", {"gelu_1", last}, {{"correction", 1}}, 2},
                              {"logsumexp", {"gelu_1", last}},
                              {"linalg_vector_norm", {"gelu_1", 2, last}},
                              {"linalg_vector_norm", {"gelu_1", 1, last, true}},
                              {"linalg_vector_norm", {"gelu_1", inf, last}},
                              {"norm.ScalarOpt_dim", {"gelu_1", 2, last, true}},
                              {"any.dim", {"gelu_1", 1}},
                              {"count_nonzero.dim_IntList", {"gelu_1", last}}})
    for (const char* program : {fuse, small_tiles}) EXPECT_RIGHT(reduced_linear(34, 70, 12, reduction), program);
}

TEST_F(MatmulRows, EveryTileMathAndShareOfAWarpIsRight) {
  for (const char* parameters : {"tile=128x128x32",
                                 "tile=256x64x16 math=fp32",
                                 "tile=128x64x16",
                                 "tile=64x128x32 stages=4",
                                 "tile=64x64x64",
                                 "tile=32x128x32 math=fp32",
                                 "tile=128x32x32",
                                 "tile=64x32x32 swizzle=1",
                                 "tile=32x32x64 add=8 ahead=1",
                                 "tile=16x128x32",
                                 "tile=128x16x32",
                                 "tile=16x64x64 math=fp32",
                                 "tile=64x16x64 blocks=2",
                                 "tile=256x128x16",
                                 "tile=128x256x16",
                                 "tile=128x128x16 warps=4x4",
                                 "tile=128x64x32 warps=2x1",
                                 "tile=64x64x32 warps=1x4",
                                 "math=wgmma",
                                 "stages=2"})
    EXPECT_RIGHT(reduced_linear(130, 134, 40, sum_of_columns),
                 fmt::format("//! fuse linear_1 gelu_1 r_1 : {}\n", parameters));
}

//! The kernel that adds up the parts has whole rows, however many columns they have.
TEST_F(MatmulRows, PartsOfTheDepthAreAddedUpBeforeRowsAreReduced) {
  const Op softmax = {"softmax.int", {"gelu_1", 1}}, logsumexp = {"logsumexp", {"gelu_1", {1}}};
  for (const auto& [rows, columns, split] : {std::tuple{35, 40, 2}, {33, 37, 4}, {1, 300, 2}, {70, 1, 2}})
    for (const Op& reduction : {sum_of_columns, softmax, logsumexp}) {
      const std::string program = fmt::format("//! fuse linear_1 gelu_1 r_1 : tile=32x32x32 split={}\n", split);
      const Verdict verdict = judged(reduced_linear(rows, columns, 125, reduction), program);
      EXPECT_EQ(verdict.status, "ok") << verdict.message << verdict.code;
      EXPECT_EQ(verdict.steps, (std::vector<std::string>{"launch fuse_r_1", "launch fuse_r_1_rows"}));
    }
  EXPECT_RIGHT(reduced_linear(35, 72, 130, logsumexp, {{"dtype", "f16"}}),
               "//! fuse linear_1 gelu_1 r_1 : tile=32x32x32 split=2\n");
  TaskText batches;
  batches.input("x", {3, 33, 90}).input("y", {3, 90, 35}).node("bmm_1", "aten::bmm", {"x", "y"});
  batches.node("norm_1", "aten::layer_norm", {"bmm_1", {35}}).output("norm_1").output("bmm_1");
  EXPECT_RIGHT(batches, "//! fuse bmm_1 norm_1 : tile=32x32x32 split=2\n");
}

TEST_F(MatmulRows, SplitsTheDepthWhereThereAreFewTiles) {
  const Op softmax = {"softmax.int", {"gelu_1", 1}};
  const Verdict verdict = planned(reduced_linear(64, 1024, 8192, softmax), fuse);
  EXPECT_EQ(verdict.status, "ok") << verdict.message;
  EXPECT_EQ(verdict.steps.size(), 2u) << "parts, then their rows";
  EXPECT_EQ(planned(reduced_linear(8192, 96, 64, softmax), fuse).steps.size(), 1u);
}

//! x [batches…, rows, depth] by y, the product's columns added up.
TaskText sum_of_product(const std::vector<std::int64_t>& x, const std::vector<std::int64_t>& y, int dim,
                        const json& x_more = {}, const json& y_more = {}) {
  TaskText task;
  task.input("x", x, x_more).input("y", y, y_more).node("matmul_1", "aten::matmul", {"x", "y"});
  task.node("sum_1", "aten::sum.dim_IntList", {"matmul_1", json::array({dim})}).output("sum_1");
  return task;
}

TEST_F(MatmulRows, BatchesAndSeveralDimensionsOfRowsAreRight) {
  for (const char* parameters : {"", " : tile=32x32x32"}) {
    const std::string program = fmt::format("//! fuse matmul_1 sum_1{}\n", parameters);
    EXPECT_RIGHT(sum_of_product({3, 33, 20}, {3, 20, 45}, 2), program);
    EXPECT_RIGHT(sum_of_product({2, 1, 33, 20}, {3, 20, 45}, -1), program);
    EXPECT_RIGHT(sum_of_product({33, 20}, {2, 3, 20, 45}, 3), program);
    EXPECT_RIGHT(sum_of_product({2, 3, 7, 20}, {20, 45}, 3), program);
  }
}

TEST_F(MatmulRows, OperandsMayLieInMemoryAnyWay) {
  for (const char* parameters : {"", " : tile=32x32x32", " : tile=64x64x32 math=fp32"}) {
    const std::string program = fmt::format("//! fuse matmul_1 sum_1{}\n", parameters);
    EXPECT_RIGHT(sum_of_product({50, 44}, {44, 60}, 1, with_strides({1, 50}), with_strides({1, 44})), program);
    EXPECT_RIGHT(sum_of_product({50, 44}, {44, 60}, 1, with_strides({90, 2}), with_strides({3, 150})), program);
    EXPECT_RIGHT(sum_of_product({50, 44}, {44, 61}, 1, with_strides({45, 1}), with_strides({1, 46})), program);
  }
}

TEST_F(MatmulRows, EinsumsAndAddedMatricesAreRight) {
  TaskText task;
  task.input("s", {33, 45}, with_strides({1, 33})).input("x", {33, 20}).input("y", {20, 45});
  task.node("addmm_1", "aten::addmm", {"s", "x", "y"}, {{"kwargs", {{"beta", 0.5}, {"alpha", 2.0}}}});
  task.node("amax_1", "aten::amax", {"addmm_1", json::array({1})}).output("amax_1");
  EXPECT_RIGHT(task, "//! fuse addmm_1 amax_1 : tile=32x32x32\n");
  EXPECT_RIGHT(task, "//! fuse addmm_1 amax_1\n");
  TaskText einsum;
  einsum.input("x", {5, 7, 20}).input("y", {20, 45});
  einsum.node("einsum_1", "aten::einsum", json::array({{{"string", "bij,jk->bik"}}, {"x", "y"}}));
  einsum.node("sum_1", "aten::sum.dim_IntList", {"einsum_1", json::array({2})}).output("sum_1");
  EXPECT_RIGHT(einsum, "//! fuse einsum_1 sum_1 : tile=32x32x32\n");
}

//! Nodes before the product, between it and the reduction, and after that; of fp32 and of 16 bits.
TEST_F(MatmulRows, NodesOnAllSidesAreComputedOnTheWay) {
  for (const char* dtype : {"f32", "f16", "bf16"})
    for (const std::int64_t columns : {72, 75}) {
      const json type = {{"dtype", dtype}};
      TaskText task;
      task.input("x", {37, 40}, type).weight("w", {columns, 40}, type).input("r", {37, columns}, type);
      task.input("g", {37, 1}, type).node("relu_1", "aten::relu", {"x"});
      task.node("linear_1", "aten::linear", {"relu_1", "w"}).node("add_1", "aten::add.Tensor", {"linear_1", "r"});
      task.node("mul_1", "aten::mul.Tensor", {"add_1", "g"}).node("tanh_1", "aten::tanh", {"mul_1"});
      task.node("mean_1", "aten::mean.dim", {"tanh_1", json::array({1}), true});
      task.node("sigmoid_1", "aten::sigmoid", {"mean_1"}).node("sub_1", "aten::sub.Tensor", {"sigmoid_1", "g"});
      task.output("sub_1");
      for (const char* parameters : {"", " : tile=32x32x32"})
        EXPECT_RIGHT(task,
                     fmt::format("//! fuse relu_1 linear_1 add_1 mul_1 tanh_1 mean_1 sigmoid_1 sub_1{}\n", parameters));
    }
}

//! The product, what follows it, and two reductions are read outside.
TEST_F(MatmulRows, WhatOthersReadIsWrittenAsWell) {
  for (const std::int64_t columns : {1, 37, 40}) {
    TaskText task;
    task.input("x", {35, 20}).weight("w", {columns, 20}).node("linear_1", "aten::linear", {"x", "w"});
    task.node("gelu_1", "aten::gelu", {"linear_1"});
    task.node("sum_1", "aten::sum.dim_IntList", {"gelu_1", json::array({1})});
    task.node("amax_1", "aten::amax", {"linear_1", json::array({1}), true});
    task.node("tanh_1", "aten::tanh", {"sum_1"}).node("neg_1", "aten::neg", {"gelu_1"});
    for (const char* output : {"tanh_1", "amax_1", "linear_1", "neg_1", "sum_1"}) task.output(output);
    for (const char* parameters : {"", " : tile=32x32x32"})
      EXPECT_RIGHT(task, fmt::format("//! fuse linear_1 gelu_1 sum_1 amax_1 tanh_1{}\n", parameters));
  }
}

//! Several passes over a row, which one block must have.
TEST_F(MatmulRows, SoftmaxAndNormsOfWholeRowsAreRight) {
  const auto task = [](std::int64_t rows, std::int64_t columns, const char* op, const json& args) {
    return reduced_linear(rows, columns, 20, {op, args});
  };
  for (const std::int64_t columns : {1, 37, 64, 130, 256}) {
    EXPECT_RIGHT(task(35, columns, "softmax.int", {"gelu_1", 1}), fuse);
    EXPECT_RIGHT(task(35, columns, "log_softmax.int", {"gelu_1", 1}), fuse);
  }
  EXPECT_RIGHT(task(70, 60, "layer_norm", {"gelu_1", {60}}), fuse);
  EXPECT_RIGHT(task(70, 61, "rms_norm", {"gelu_1", {61}}), fuse);
  TaskText chain;
  chain.input("x", {35, 20}).weight("w", {52, 20}).node("linear_1", "aten::linear", {"x", "w"});
  chain.node("norm_1", "aten::layer_norm", {"linear_1", {52}}).node("softmax_1", "aten::softmax.int", {"norm_1", 1});
  chain.node("mul_1", "aten::mul.Tensor", {"softmax_1", "linear_1"});
  chain.node("sum_1", "aten::sum.dim_IntList", {"mul_1", json::array({1})}).output("sum_1").output("norm_1");
  EXPECT_RIGHT(chain, "//! fuse linear_1 norm_1 softmax_1 mul_1 sum_1\n");
}

//! What a row of one column has left when its mean or maximum is taken off is nothing, not what rounding took off
//! gelu's last product.
TEST_F(MatmulRows, RowsOfOneColumnLeaveNothingWhereProductsAreContracted) {
  for (const auto& [op, args, kwargs] : {std::tuple<const char*, json, json>{"log_softmax.int", {"gelu_1", 1}, {}},
                                         {"softmax.int", {"gelu_1", 1}, {}},
                                         {"layer_norm", {"gelu_1", {1}}, {}},
                                         {"var.correction", {"gelu_1", {1}}, {{"correction", 0}}}})
    EXPECT_RIGHT_CONTRACTED(reduced_linear(35, 1, 20, {op, args, kwargs.is_null() ? json::object() : kwargs}), fuse);
  TaskText centred = reduced_linear(35, 1, 20, {"mean.dim", {"gelu_1", {1}, true}});
  centred.node("sub_1", "aten::sub.Tensor", {"gelu_1", "r_1"}).output("sub_1");
  EXPECT_RIGHT_CONTRACTED(centred, "//! fuse linear_1 gelu_1 r_1 sub_1\n");
}

TEST_F(MatmulRows, TrianglesAreReduced) {
  TaskText task;
  task.input("x", {70, 20}).input("y", {20, 100}).node("mm_1", "aten::mm", {"x", "y"});
  task.node("tril_1", "aten::tril", {"mm_1"});
  task.node("sum_1", "aten::sum.dim_IntList", {"tril_1", json::array({1})}).output("sum_1");
  const Verdict verdict = judged(task, "//! fuse mm_1 tril_1 sum_1 : tile=32x32x32\n");
  EXPECT_EQ(verdict.status, "ok") << verdict.message << verdict.code;
  EXPECT_NE(verdict.code.find("? begin :"), std::string::npos) << "tiles beyond the diagonal are multiplied";
}

TEST_F(MatmulRows, ResultsMayGoThroughViews) {
  TaskText task;
  task.input("x", {2, 10, 20}).weight("w", {24, 20}).node("linear_1", "aten::linear", {"x", "w"});
  task.node("view_1", "aten::view", {"linear_1", {20, 4, 6}}).node("tanh_1", "aten::tanh", {"view_1"});
  task.node("sum_1", "aten::sum.dim_IntList", {"tanh_1", {1, 2}}).node("view_2", "aten::view", {"sum_1", {10, 2}});
  task.node("neg_1", "aten::neg", {"view_2"}).output("neg_1");
  EXPECT_RIGHT(task, "//! fuse linear_1 tanh_1 sum_1 neg_1\n");
}

//! As accurate as `rows` on what the product stores, where all terms have one sign.
TEST_F(MatmulRows, LongRowsOfPositiveNumbersKeepFp32Accuracy) {
  const json positive = {{"draw", {{"kind", "uniform"}, {"low", 0.0}, {"high", 1.0}}}};
  EXPECT_RIGHT(sum_of_product({17, 40}, {40, 5000}, 1, positive, positive),
               "//! fuse matmul_1 sum_1 : tile=16x128x32\n");
  EXPECT_RIGHT(sum_of_product({17, 3000}, {3000, 90}, 1, positive, positive), "//! fuse matmul_1 sum_1\n");
}

TEST_F(MatmulRows, RoundsOperandsWhereALowerPrecisionIsDeclared) {
  const json positive = {{"draw", {{"kind", "uniform"}, {"low", 0.0}, {"high", 1.0}}}};
  const Op mean = {"mean.dim", {"gelu_1", {1}}};
  for (const auto& [math, declared] : {std::pair{"tf32", Declared::tf32}, {"bf16", Declared::paper}})
    for (const char* tile : {"tile=128x64x32", "tile=32x32x32", "tile=32x32x32 split=2"}) {
      const std::string program = fmt::format("//! fuse linear_1 gelu_1 r_1 : {} math={}\n", tile, math);
      EXPECT_RIGHT_WITH(reduced_linear(40, 50, 70, mean, positive), program, declared);
      EXPECT_REFUSED(reduced_linear(40, 50, 70, mean), program, "rounds fp32 operands");
    }
}

TEST_F(MatmulRows, CombinesTilesWithoutAtomics) {
  const Verdict verdict = planned(reduced_linear(40, 300, 37, sum_of_columns), small_tiles);
  EXPECT_EQ(verdict.code.find("atomic"), std::string::npos) << verdict.code;
}

TEST_F(MatmulRows, PlacesBeyond32BitsAreReached) {
  TaskText task;
  task.input("x", {70000, 64}).input("y", {64, 40000}).node("mm_1", "aten::mm", {"x", "y"});
  task.node("sum_1", "aten::sum.dim_IntList", {"mm_1", json::array({1})}).output("sum_1").output("mm_1");
  const Verdict verdict = planned(task, "//! fuse mm_1 sum_1\n");
  EXPECT_EQ(verdict.status, "ok") << verdict.message;
  EXPECT_NE(verdict.code.find("const unsigned long long r0"), std::string::npos) << verdict.code;
}

//! A tile that finishes rows, several that do not, several passes, groups of warps, and operands of 16 bits.
TEST_F(MatmulRows, CompilesForRealGpus) {
  if (const std::string why = why_no_nvrtc(); !why.empty()) GTEST_SKIP() << why;
  const json half = {{"dtype", "f16"}}, bfloat = {{"dtype", "bf16"}};
  const Op logsumexp = {"logsumexp", {"gelu_1", {1}}}, argmax = {"max.dim", {"gelu_1", 1}, json::object(), 2},
           variance = {"var.correction", {"gelu_1", {1}}, {{"correction", 1}}},
           softmax = {"softmax.int", {"gelu_1", 1}};
  const std::string groups = "//! fuse linear_1 gelu_1 r_1 : math=wgmma\n";
  for (const char* target : {"sm_80", "sm_90"})
    for (const auto& [task, program] :
         {std::pair<TaskText, std::string>{reduced_linear(70, 90, 64, sum_of_columns), fuse},
          {reduced_linear(70, 91, 37, logsumexp), small_tiles},
          {reduced_linear(70, 300, 64, argmax), fuse},
          {reduced_linear(70, 300, 64, variance), fuse},
          {reduced_linear(70, 250, 64, softmax), fuse},
          {reduced_linear(300, 300, 512, logsumexp), groups},
          {reduced_linear(64, 1024, 4096, softmax), fuse},  // by parts
          {reduced_linear(70, 90, 64, softmax, half), fuse},
          {reduced_linear(70, 91, 64, variance, bfloat), small_tiles}})
      EXPECT_EQ(compiled_for(task, program, target), "compiled") << target << "\n" << program;
}

TEST_F(MatmulRows, RefusesOtherDimensionsThanTheColumns) {
  const char* rule = "is reduced over all of its columns";
  EXPECT_REFUSED(reduced_linear(33, 35, 20, {"sum.dim_IntList", {"gelu_1", {0}}}), fuse, rule);
  EXPECT_REFUSED(reduced_linear(33, 35, 20, {"mean", {"gelu_1"}}), fuse, rule);
  TaskText heads;
  heads.input("x", {10, 20}).weight("w", {24, 20}).node("linear_1", "aten::linear", {"x", "w"});
  heads.node("view_1", "aten::view", {"linear_1", {10, 4, 6}});
  heads.node("sum_1", "aten::sum.dim_IntList", {"view_1", {2}}).output("sum_1");
  EXPECT_REFUSED(heads, "//! fuse linear_1 sum_1\n", rule);
}

TEST_F(MatmulRows, RefusesWhatNoTileHolds) {
  const Op softmax = {"softmax.int", {"gelu_1", 1}};
  EXPECT_REFUSED(reduced_linear(33, 257, 20, softmax), fuse, "a block must have whole rows");
  EXPECT_REFUSED(reduced_linear(33, 100, 20, softmax), "//! fuse linear_1 gelu_1 r_1 : tile=64x64x32\n",
                 "tile=64x64x32 math=auto has 100 columns");
  EXPECT_REFUSED(reduced_linear(33, 200, 20, softmax), "//! fuse linear_1 gelu_1 r_1 : math=wgmma\n",
                 "tile=auto math=wgmma has 200 columns");
}

TEST_F(MatmulRows, RefusesParametersThatItHasNot) {
  const TaskText task = reduced_linear(33, 35, 200, sum_of_columns);
  const std::string parameters = "//! fuse linear_1 gelu_1 r_1 : ";
  EXPECT_REFUSED(task, parameters + "tile=rows\n", "is not among the values of 'tile'");
  EXPECT_REFUSED(task, parameters + "math=tensor\n", "operands of 16 bits");
  EXPECT_REFUSED(task, parameters + "tile=32x32x32 split=16\n", "fewer tiles than parts");
  EXPECT_REFUSED(task, parameters + "tile=32x32x32 warps=2x8\n", "cannot be dealt out to warps=2x8");
}

TEST_F(MatmulRows, RefusesWhatIsNoReductionOfItsProduct) {
  TaskText before;
  before.input("x", {33, 20}).input("y", {20, 35}).node("softmax_1", "aten::softmax.int", {"x", 1});
  before.node("mm_1", "aten::mm", {"softmax_1", "y"}).output("mm_1");
  EXPECT_REFUSED(before, "//! fuse softmax_1 mm_1\n", "multiplies what a reduction gives");
  TaskText twice;
  twice.input("x", {33, 20}).input("y", {20, 33}).node("mm_1", "aten::mm", {"x", "y"});
  twice.node("t_1", "aten::t", {"mm_1"}).node("add_1", "aten::add.Tensor", {"mm_1", "t_1"});
  twice.node("sum_1", "aten::sum.dim_IntList", {"add_1", json::array({1})}).output("sum_1");
  EXPECT_REFUSED(twice, "//! fuse mm_1 add_1 sum_1\n", "two of the product");
  TaskText moved;
  moved.input("x", {33, 20}).input("y", {20, 35}).node("mm_1", "aten::mm", {"x", "y"});
  moved.node("pad_1", "aten::constant_pad_nd", {"mm_1", {1, 2}});
  moved.node("sum_1", "aten::sum.dim_IntList", {"pad_1", json::array({1})}).output("sum_1");
  EXPECT_REFUSED(moved, "//! fuse mm_1 pad_1 sum_1\n", "are moved (cat, pad, index …)");
  EXPECT_REFUSED(reduced_linear(0, 35, 20, sum_of_columns), fuse, "nothing to multiply");
  EXPECT_REFUSED(reduced_linear(33, 35, 0, sum_of_columns), fuse, "nothing to multiply");
  TaskText two;
  two.input("x", {33, 33}).node("mm_1", "aten::mm", {"x", "x"}).node("mm_2", "aten::mm", {"mm_1", "x"});
  two.node("sum_1", "aten::sum.dim_IntList", {"mm_2", json::array({1})}).output("sum_1");
  EXPECT_REFUSED(two, "//! fuse mm_1 mm_2 sum_1\n", "no technique fuses");
  const json integers = {{"dtype", "i64"}, {"draw", {{"kind", "integers"}, {"low", 0}, {"high", 9}}}};
  EXPECT_REFUSED(sum_of_product({5, 6}, {6, 7}, 1, integers, integers), "//! fuse matmul_1 sum_1\n",
                 "fp32, fp16 or bf16");
}

//! s [rows] += the sums of rows.
TEST_F(MatmulRows, AddsToAState) {
  TaskText task;
  task.input("x", {33, 20}).input("y", {20, 70}).state("s", {33}).node("mm_1", "aten::mm", {"x", "y"});
  task.node("sum_1", "aten::sum.dim_IntList", {"mm_1", json::array({1})});
  task.node("add_1", "aten::add_.Tensor", {"s", "sum_1"}, {{"writes_state", {"s"}}});
  task.node("relu_1", "aten::relu", {"x"}).output("relu_1");
  for (const char* parameters : {"", " : tile=32x32x32"})
    EXPECT_RIGHT(task, fmt::format("//! fuse mm_1 sum_1 add_1{}\n", parameters));
}

}  // namespace
}  // namespace cudal1::testing
