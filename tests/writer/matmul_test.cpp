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

const json positive = {{"draw", {{"kind", "uniform"}, {"low", 0.0}, {"high", 1.0}}}};

json with_strides(const std::vector<std::int64_t>& strides) { return {{"strides", strides}}; }

TaskText linear_gelu(std::int64_t rows, std::int64_t columns, std::int64_t depth, const json& more = {}) {
  TaskText task;
  task.input("x", {rows, depth}, more).weight("w", {columns, depth}, more).weight("b", {columns}, more);
  task.node("linear_1", "aten::linear", {"x", "w", "b"}).node("gelu_1", "aten::gelu", {"linear_1"}).output("gelu_1");
  return task;
}

//! x [rows, depth] by y [depth, columns], with strides where they are given.
TaskText mm(const std::vector<std::int64_t>& x, const std::vector<std::int64_t>& y, const json& x_more = {},
            const json& y_more = {}) {
  TaskText task;
  task.input("x", x, x_more).input("y", y, y_more);
  task.node("matmul_1", "aten::matmul", {"x", "y"}).output("matmul_1");
  return task;
}

TEST_F(Matmul, MakesOneLaunchOfAProductAndItsActivation) {
  const Verdict verdict = judged(linear_gelu(70, 90, 37), "//! fuse linear_1 gelu_1 : split=1\n");
  EXPECT_EQ(verdict.status, "ok") << verdict.message;
  EXPECT_EQ(verdict.steps, std::vector<std::string>{"launch fuse_gelu_1"});
  EXPECT_EQ(verdict.techniques, std::vector<std::string>{"matmul"});
  EXPECT_NE(verdict.code.find("Tf32x3"), std::string::npos);
}

TEST_F(Matmul, IsRightForOddSizes) {
  for (const auto& [rows, columns, depth] :
       {std::tuple{64, 64, 64}, {7, 13, 5}, {70, 90, 37}, {129, 65, 100}, {2, 3, 1}, {3, 200, 16}})
    EXPECT_RIGHT(linear_gelu(rows, columns, depth), "//! fuse linear_1 gelu_1\n");
}

//! A block of each, and nearly all of its rows and columns.
TEST_F(Matmul, EveryTileIsRight) {
  for (const auto& [rows, columns, depth] : {std::tuple{128, 128, 32},
                                             {128, 128, 16},
                                             {256, 64, 32},
                                             {256, 64, 16},
                                             {128, 64, 32},
                                             {128, 64, 16},
                                             {64, 128, 32},
                                             {64, 64, 64},
                                             {64, 64, 32},
                                             {64, 64, 16},
                                             {32, 128, 32},
                                             {128, 32, 32},
                                             {32, 64, 32},
                                             {64, 32, 32},
                                             {32, 32, 64},
                                             {32, 32, 32},
                                             {16, 128, 32},
                                             {128, 16, 32},
                                             {16, 64, 64},
                                             {64, 16, 64},
                                             {256, 128, 32},
                                             {256, 128, 16},
                                             {128, 256, 32},
                                             {128, 256, 16}})
    for (const char* math : {"tf32x3", "fp32"})
      EXPECT_RIGHT(
          mm({rows - 1, 35}, {35, columns - 4}),
          fmt::format("//! fuse matmul_1 : tile={}x{}x{} math={} split=1 stages=2\n", rows, columns, depth, math));
}

TEST_F(Matmul, EveryNumberOfStagesPartsAndRowsOfTilesIsRight) {
  for (const char* parameters : {"stages=2", "stages=3", "stages=4", "split=2", "split=4 stages=4", "split=8",
                                 "swizzle=1", "swizzle=2", "swizzle=4 split=2", "swizzle=16"})
    EXPECT_RIGHT(linear_gelu(100, 70, 250), fmt::format("//! fuse linear_1 gelu_1 : tile=32x32x32 {}\n", parameters));
}

TEST_F(Matmul, EveryShareOfAWarpIsRight) {
  for (const char* parameters :
       {"tile=64x64x32 warps=1x4", "tile=128x64x32 warps=2x1", "tile=64x64x32 warps=4x1", "tile=128x128x16 warps=2x2",
        "tile=128x128x32 warps=4x2", "tile=128x128x16 warps=4x4", "tile=128x128x16 warps=2x8",
        "tile=128x128x16 warps=4x4 math=fp32", "tile=64x64x32 warps=2x1 math=fp32"})
    EXPECT_RIGHT(mm({121, 40}, {40, 118}), fmt::format("//! fuse matmul_1 : split=1 {}\n", parameters));
}

//! With operands that lie in memory either way, and a depth of a few tiles, of less than one, and of whole ones.
TEST_F(Matmul, EveryWayThroughATileIsRight) {
  for (const char* add : {"8", "16", "32"})
    for (const char* ahead : {"0", "1"})
      for (const auto& [stages, depth, turned] : {std::tuple{2, 107, false}, {3, 20, true}, {4, 160, true}}) {
        const json x = turned ? with_strides({1, 36}) : json{}, y = turned ? with_strides({1, depth}) : json{};
        EXPECT_RIGHT(
            mm({36, depth}, {depth, 44}, x, y),
            fmt::format("//! fuse matmul_1 : tile=32x64x32 split=1 stages={} add={} ahead={}\n", stages, add, ahead));
      }
}

TEST_F(Matmul, LoadsAheadAreRightWhereLittleOrNothingIsMultiplied) {
  TaskText triangle;
  triangle.input("x", {70, 20}).input("y", {20, 100});
  triangle.node("mm_1", "aten::mm", {"x", "y"}).node("tri_1", "aten::tril", {"mm_1", -32}).output("tri_1");
  EXPECT_RIGHT(triangle, "//! fuse mm_1 tri_1 : tile=32x32x32 ahead=1\n");
  EXPECT_RIGHT(mm({33, 1}, {1, 35}), "//! fuse matmul_1 : tile=32x32x32 ahead=1 add=8\n");
  EXPECT_RIGHT(mm({33, 100}, {100, 35}), "//! fuse matmul_1 : tile=32x32x32 ahead=1 split=4\n");
}

//! On a GPU of compute capability 9.0 with its own instructions; on the virtual one with those of a warp in their
//! place.
TEST_F(Matmul, GroupsOfWarpsAreRight) {
  const auto right = [](const char* parameters, std::int64_t rows, std::int64_t columns, std::int64_t depth, bool left,
                        bool turned) {
    const json x = left ? with_strides({1, rows}) : json{}, y = turned ? with_strides({1, depth}) : json{};
    EXPECT_RIGHT(mm({rows, depth}, {depth, columns}, x, y),
                 fmt::format("//! fuse matmul_1 : math=wgmma {}\n", parameters));
  };
  right("add=64 split=1", 128, 128, 160, false, false);
  right("add=32 split=1", 128, 128, 160, true, true);
  right("add=64 split=1", 121, 130, 75, false, true);
  right("split=1", 121, 130, 75, true, false);
  right("split=1", 140, 37, 1, false, true);
  right("add=64 split=2", 60, 124, 200, true, false);
}

//! Of three blocks each thread would have 80 registers, and no instruction of a group would fit.
TEST_F(Matmul, GroupsOfWarpsLeaveRoomForTwoBlocks) {
  EXPECT_RIGHT(mm({128, 64}, {64, 128}), "//! fuse matmul_1 : math=wgmma blocks=2\n");
  for (const char* blocks : {"3", "4"})
    EXPECT_REFUSED(mm({128, 64}, {64, 128}), fmt::format("//! fuse matmul_1 : blocks={} math=wgmma\n", blocks),
                   "room for 2 blocks");
}

TEST_F(Matmul, GroupsOfWarpsTakeWhatOtherProductsTake) {
  EXPECT_RIGHT(linear_gelu(130, 36, 64), "//! fuse linear_1 gelu_1 : math=wgmma\n");
  EXPECT_RIGHT(mm({3, 33, 50}, {3, 50, 35}), "//! fuse matmul_1 : math=wgmma\n");
  EXPECT_RIGHT(mm({33, 66}, {66, 35}, with_strides({66, 1}), with_strides({3, 200})),
               "//! fuse matmul_1 : math=wgmma\n");
  TaskText computed;
  computed.input("x", {70, 100}).input("y", {100, 90}).input("r", {90}).node("relu_1", "aten::relu", {"x"});
  computed.node("mm_1", "aten::mm", {"relu_1", "y"}).node("add_1", "aten::add.Tensor", {"mm_1", "r"});
  computed.node("tri_1", "aten::tril", {"add_1"}).output("tri_1");
  EXPECT_RIGHT(computed, "//! fuse relu_1 mm_1 add_1 tri_1 : math=wgmma\n");
}

//! The errors of what tensor cores cut off all point one way here.
TEST_F(Matmul, GroupsOfWarpsKeepFp32Accuracy) {
  EXPECT_RIGHT(mm({20, 2000}, {2000, 20}, positive, positive), "//! fuse matmul_1 : math=wgmma split=1\n");
  EXPECT_RIGHT(mm({20, 64}, {64, 20}, positive, positive), "//! fuse matmul_1 : math=wgmma add=64\n");
  const auto code = [](std::int64_t depth) {
    return planned(mm({300, depth}, {depth, 300}), "//! fuse matmul_1 : math=wgmma split=1\n").code;
  };
  EXPECT_NE(code(255).find("Tf32x3GroupsBy<32>"), std::string::npos);
  EXPECT_NE(code(256).find("Tf32x3Groups>"), std::string::npos);
}

TEST_F(Matmul, RegistersAreLeftForSeveralBlocks) {
  const Verdict verdict = judged(mm({60, 70}, {70, 90}), "//! fuse matmul_1 : tile=64x64x32 blocks=3 add=8 ahead=1\n");
  EXPECT_EQ(verdict.status, "ok") << verdict.message;
  EXPECT_NE(verdict.code.find("__launch_bounds__(128, 3)"), std::string::npos) << verdict.code;
  EXPECT_NE(verdict.code.find("Tf32x3By<8, true>"), std::string::npos) << verdict.code;
}

TEST_F(Matmul, OperandsMayLieInMemoryEitherWay) {
  const std::int64_t rows = 68, columns = 76, depth = 44;
  for (const char* math : {"tf32x3", "fp32"})
    for (const bool left : {false, true})
      for (const bool right : {false, true}) {
        const json x = left ? with_strides({1, rows}) : json{}, y = right ? with_strides({1, depth}) : json{};
        EXPECT_RIGHT(mm({rows, depth}, {depth, columns}, x, y),
                     fmt::format("//! fuse matmul_1 : tile=64x64x32 math={}\n", math));
      }
}

TEST_F(Matmul, TransposedViewsAreReadWhereTheyAre) {
  TaskText task;
  task.input("x", {44, 68}).weight("w", {76, 44});
  task.node("t_1", "aten::t", {"x"}).node("t_2", "aten::transpose.int", {"w", 0, 1});
  task.node("mm_1", "aten::mm", {"t_1", "t_2"}).output("mm_1");
  const Verdict verdict = judged(task, "//! fuse mm_1\n");
  EXPECT_EQ(verdict.status, "ok") << verdict.message;
  EXPECT_NE(verdict.code.find("StridedOperand<float, 68, 44, false, 68, 4>"), std::string::npos) << verdict.code;
}

TEST_F(Matmul, LinesThatStartAnywhereAreRight) {
  for (const std::int64_t stride : {45, 46, 48})  // 4, 8 and 16 bytes at a time
    EXPECT_RIGHT(mm({50, 44}, {44, 60}, with_strides({stride, 1}), with_strides({1, stride})),
                 "//! fuse matmul_1 : tile=32x32x32\n");
}

TEST_F(Matmul, ElementsWithoutNeighboursAreRight) {
  EXPECT_RIGHT(mm({50, 44}, {44, 60}, with_strides({90, 2}), with_strides({3, 150})),
               "//! fuse matmul_1 : tile=32x32x32\n");
}

TEST_F(Matmul, SlicesAreReadWhereTheyStart) {
  TaskText task;
  task.input("x", {50, 100});
  task.node("slice_1", "aten::slice.Tensor", {"x", 1, 0, 49}).node("slice_2", "aten::slice.Tensor", {"x", 1, 51, 100});
  task.node("t_1", "aten::t", {"slice_2"}).node("mm_1", "aten::mm", {"slice_1", "t_1"}).output("mm_1");
  EXPECT_RIGHT(task, "//! fuse mm_1 : tile=32x32x32\n");
}

TEST_F(Matmul, BatchesAreRight) {
  const char* program = "//! fuse matmul_1 : tile=32x32x32\n";
  EXPECT_RIGHT(mm({3, 33, 20}, {3, 20, 35}), program);
  EXPECT_RIGHT(mm({3, 33, 20}, {3, 20, 35}, with_strides({20, 60, 1}), with_strides({700, 1, 20})), program);
  EXPECT_RIGHT(mm({2, 1, 33, 20}, {3, 20, 35}), program);  // broadcast on both sides
  EXPECT_RIGHT(mm({33, 20}, {2, 3, 20, 35}), program);     // one left operand for all
  EXPECT_RIGHT(mm({2, 3, 33, 20}, {20, 35}), program);     // all rows of the left one
  EXPECT_RIGHT(mm({3, 33, 20}, {3, 20, 35}), "//! fuse matmul_1 : tile=32x32x32 split=1 swizzle=2\n");
  EXPECT_RIGHT(mm({2, 33, 90}, {2, 90, 35}), "//! fuse matmul_1 : tile=32x32x32 split=2\n");
}

TEST_F(Matmul, AProductOfManyRowsInSeveralDimensionsIsOne) {
  const Verdict verdict = judged(mm({4, 10, 24}, {24, 36}), "//! fuse matmul_1 : tile=64x64x32\n");
  EXPECT_EQ(verdict.status, "ok") << verdict.message;
  EXPECT_NE(verdict.code.find("StridedOperand<float, 40, 24, true, 24, 4>"), std::string::npos) << verdict.code;
}

TEST_F(Matmul, VectorsAreReductions) {
  for (const auto& [x, y] : {std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>>{{37, 100}, {100}},
                             {{100}, {100, 37}},
                             {{100}, {100}},
                             {{1, 100}, {100, 37}},
                             {{3, 37, 100}, {100}},
                             {{100}, {3, 100, 5}}}) {
    const Verdict verdict = judged(mm(x, y), "//! fuse matmul_1\n");
    EXPECT_EQ(verdict.status, "ok") << verdict.message;
    EXPECT_EQ(verdict.code.find("tiled_product"), std::string::npos);
  }
}

TEST_F(Matmul, ByRowsIsRightForAnyProduct) {
  EXPECT_RIGHT(linear_gelu(20, 30, 100), "//! fuse linear_1 gelu_1 : tile=rows\n");
  EXPECT_RIGHT(mm({2, 5, 20}, {2, 20, 7}), "//! fuse matmul_1 : tile=rows math=fp32\n");
}

TEST_F(Matmul, NothingToAddUpGivesZeros) {
  EXPECT_RIGHT(mm({5, 0}, {0, 7}), "//! fuse matmul_1\n");
  EXPECT_RIGHT(mm({0, 5}, {5, 7}), "//! fuse matmul_1\n");
  EXPECT_RIGHT(linear_gelu(5, 7, 0), "//! fuse linear_1 gelu_1\n");
  EXPECT_RIGHT(mm({5, 1}, {1, 7}), "//! fuse matmul_1 : tile=32x32x32\n");
}

TEST_F(Matmul, SumsOfManyPositiveNumbersKeepFp32Accuracy) {
  for (const char* parameters : {"math=tf32x3 tile=32x32x32 split=1", "tile=32x32x32 split=1 add=8",
                                 "math=tf32x3 tile=32x32x64 split=8", "math=fp32"})
    EXPECT_RIGHT(mm({17, 4000}, {4000, 20}, positive, positive), fmt::format("//! fuse matmul_1 : {}\n", parameters));
  EXPECT_RIGHT(mm({17, 2000}, {2000, 20}), "//! fuse matmul_1 : tile=32x32x32 split=1\n");
}

TEST_F(Matmul, AddedTensorsAndFactorsAreRight) {
  for (const auto& [shape, kwargs] : {std::pair<std::vector<std::int64_t>, json>{{35}, json::object()},
                                      {{33, 35}, {{"beta", 0.5}, {"alpha", 2.0}}},
                                      {{33, 1}, {{"beta", 0}, {"alpha", -1.5}}}}) {
    TaskText task;
    task.input("s", shape).input("x", {33, 20}).input("y", {20, 35});
    task.node("addmm_1", "aten::addmm", {"s", "x", "y"}, {{"kwargs", kwargs}}).output("addmm_1");
    EXPECT_RIGHT(task, "//! fuse addmm_1 : tile=32x32x32\n");
  }
  TaskText batches;
  batches.input("s", {2, 33, 35}).input("x", {2, 33, 20}).input("y", {2, 20, 35});
  batches.node("baddbmm_1", "aten::baddbmm", {"s", "x", "y"}).output("baddbmm_1");
  EXPECT_RIGHT(batches, "//! fuse baddbmm_1 : tile=32x32x32\n");
}

TEST_F(Matmul, SeveralResultsAndAResidualAreStored) {
  for (const char* parameters : {"tile=32x32x32", "tile=32x32x32 split=2", "tile=32x32x32 math=fp32", "tile=rows"})
    for (const std::int64_t columns : {36, 37}) {
      TaskText task;
      task.input("x", {33, 70}).weight("w", {70, columns}).input("r", {33, columns}).weight("s", {columns});
      task.node("mm_1", "aten::mm", {"x", "w"}).node("mul_1", "aten::mul.Tensor", {"mm_1", "s"});
      task.node("add_1", "aten::add.Tensor", {"mul_1", "r"}).node("relu_1", "aten::relu", {"add_1"});
      task.output("relu_1").output("mm_1").output("mul_1");
      EXPECT_RIGHT(task, fmt::format("//! fuse mm_1 mul_1 add_1 relu_1 : {}\n", parameters));
    }
}

TEST_F(Matmul, ResultsMayGoThroughViews) {
  TaskText heads;  // [2, 10, 3*8] -> [2, 3, 10, 8]
  heads.input("x", {2, 10, 20}).weight("w", {24, 20});
  heads.node("linear_1", "aten::linear", {"x", "w"}).node("view_1", "aten::view", {"linear_1", {2, 10, 3, 8}});
  heads.node("permute_1", "aten::permute", {"view_1", {0, 2, 1, 3}});
  const json dense = {{"memory_format", {{"string", "contiguous_format"}}}};
  heads.node("clone_1", "aten::clone", {"permute_1"}, {{"kwargs", dense}});
  heads.output("clone_1");
  EXPECT_RIGHT(heads, "//! fuse linear_1 clone_1 : tile=32x32x32\n");
  TaskText turned;
  turned.input("x", {33, 20}).input("y", {20, 35});
  turned.node("mm_1", "aten::mm", {"x", "y"}).node("t_1", "aten::t", {"mm_1"});
  turned.node("exp_1", "aten::exp", {"t_1"}).output("exp_1");
  EXPECT_RIGHT(turned, "//! fuse mm_1 exp_1 : tile=32x32x32\n");
}

TEST_F(Matmul, TrianglesOfTheResultAreKept) {
  for (const char* op : {"aten::triu", "aten::tril"})
    for (const std::int64_t diagonal : {0, 33, -32}) {
      TaskText task;
      task.input("x", {2, 70, 20}).input("y", {2, 20, 100});
      task.node("bmm_1", "aten::bmm", {"x", "y"}).node("tri_1", op, {"bmm_1", diagonal}).output("tri_1");
      const Verdict verdict = judged(task, "//! fuse bmm_1 tri_1 : tile=32x32x32\n");
      EXPECT_EQ(verdict.status, "ok") << verdict.message << verdict.code;
      EXPECT_NE(verdict.code.find("? begin :"), std::string::npos) << "tiles beyond the diagonal are computed";
    }
}

TEST_F(Matmul, TilesBeyondADiagonalAreComputedWhereSomebodyNeedsThem) {
  TaskText task;
  task.input("x", {70, 20}).input("y", {20, 100});
  task.node("mm_1", "aten::mm", {"x", "y"}).node("tril_1", "aten::tril", {"mm_1"});
  task.node("mul_1", "aten::mul.Tensor", {"mm_1", "tril_1"}).node("tanh_1", "aten::tanh", {"mm_1"});
  task.output("mul_1").output("tanh_1");
  EXPECT_RIGHT(task, "//! fuse mm_1 tril_1 mul_1 tanh_1 : tile=32x32x32\n");
}

TEST_F(Matmul, NodesBeforeTheProductAreComputedOnTheWay) {
  for (const char* parameters :
       {"tile=32x32x32", "tile=64x64x32 math=fp32 stages=2", "tile=32x32x32 split=2", "tile=rows"}) {
    TaskText task;
    task.input("x", {2, 33, 70}).input("g", {2, 33, 1}).input("y", {2, 70, 37});
    task.node("relu_1", "aten::relu", {"x"}).node("mul_1", "aten::mul.Tensor", {"relu_1", "g"});
    task.node("sigmoid_1", "aten::sigmoid", {"y"}).node("bmm_1", "aten::bmm", {"mul_1", "sigmoid_1"});
    task.node("neg_1", "aten::neg", {"bmm_1"}).output("neg_1");
    EXPECT_RIGHT(task, fmt::format("//! fuse relu_1 mul_1 sigmoid_1 bmm_1 neg_1 : {}\n", parameters));
  }
}

TEST_F(Matmul, HalfTypesAreRight) {
  for (const char* dtype : {"f16", "bf16"}) {
    const json type = {{"dtype", dtype}};
    for (const char* parameters : {"tile=64x64x32", "tile=128x128x32 stages=4", "tile=32x32x64 split=2", "tile=rows"})
      EXPECT_RIGHT(linear_gelu(70, 88, 72, type), fmt::format("//! fuse linear_1 gelu_1 : {}\n", parameters));
    for (const auto& [rows, columns, depth] : {std::tuple{33, 35, 37}, {33, 36, 38}, {64, 72, 40}}) {
      const auto turned = [&](std::int64_t lines) { return json{{"dtype", dtype}, {"strides", {1, lines}}}; };
      EXPECT_RIGHT(mm({rows, depth}, {depth, columns}, type, type), "//! fuse matmul_1 : tile=32x32x32\n");
      EXPECT_RIGHT(mm({rows, depth}, {depth, columns}, turned(rows), turned(depth)),
                   "//! fuse matmul_1 : tile=32x32x32\n");
    }
  }
}

TEST_F(Matmul, OperandsOfAnotherTypeAreConvertedOnTheWay) {
  const json to_float = {{"dtype", "f32"}};
  for (const char* dtype : {"f16", "bf16", "i64"})
    for (const auto& [first, second] : {std::pair{true, false}, {false, true}, {true, true}})
      for (const char* parameters : {"tile=32x32x32", "tile=64x64x32 math=fp32", "tile=rows"}) {
        const json type = std::string(dtype) == "i64"
                              ? json{{"dtype", dtype}, {"draw", {{"kind", "integers"}, {"low", -9}, {"high", 9}}}}
                              : json{{"dtype", dtype}};
        TaskText task;
        task.input("x", {33, 37}, first ? type : json::object()).input("y", {37, 35}, second ? type : json::object());
        if (first) task.node("to_1", "aten::to.dtype", {"x", to_float});
        if (second) task.node("to_2", "aten::to.dtype", {"y", to_float});
        task.node("matmul_1", "aten::matmul", {first ? "to_1" : "x", second ? "to_2" : "y"}).output("matmul_1");
        EXPECT_RIGHT(task, fmt::format("//! fuse * : {}\n", parameters));
      }
}

//! By each tile, with operands that lie along their depth or across it, and with parts of the depth. Of positive
//! numbers bf16 keeps the two digits that the benchmark looks at.
TEST_F(Matmul, RoundsOperandsWhereALowerPrecisionIsDeclared) {
  const auto turned = [](std::int64_t lines) {
    json more = positive;
    more["strides"] = {1, lines};
    return more;
  };
  for (const char* tile :
       {"tile=128x128x32", "tile=32x32x64", "tile=128x16x32", "tile=64x64x16", "tile=32x32x32 split=2"})
    for (const auto& [math, declared] : {std::pair{"tf32", Declared::tf32}, {"bf16", Declared::paper}}) {
      const std::string parameters = fmt::format(" : {} math={}\n", tile, math);
      EXPECT_RIGHT_WITH(linear_gelu(70, 88, 72, positive), "//! fuse linear_1 gelu_1" + parameters, declared);
      EXPECT_RIGHT_WITH(mm({33, 70}, {70, 37}, positive, positive), "//! fuse matmul_1" + parameters, declared);
      EXPECT_RIGHT_WITH(mm({33, 70}, {70, 37}, turned(33), turned(70)), "//! fuse matmul_1" + parameters, declared);
    }
}

TEST_F(Matmul, RefusesToRoundOperandsUndeclared) {
  const std::string fuse = "\n//! fuse linear_1 gelu_1 : math=";
  const TaskText task = linear_gelu(33, 35, 20);
  EXPECT_REFUSED(task, fuse + "tf32\n", "math=tf32 rounds fp32 operands");
  EXPECT_REFUSED(task, fuse + "bf16\n", "(--precision paper would)");
  for (const auto& [math, declared] :
       {std::pair{"tf32\n", Declared::strict}, {"bf16\n", Declared::strict}, {"bf16\n", Declared::tf32}}) {
    const Verdict verdict = judged(task, fuse + math, declared);
    EXPECT_EQ(verdict.status, "plan_error") << math;
    EXPECT_EQ(verdict.line, 2);
  }
  EXPECT_REFUSED(linear_gelu(33, 35, 20, {{"dtype", "f16"}}), fuse + "tf32\n", "math=tf32 is for fp32 operands");
  EXPECT_REFUSED(task, fuse + "tf32 ahead=1\n", "ahead=1 is for math=tf32x3");
  EXPECT_REFUSED(task, fuse + "bf16 add=32\n", "add=32 is for math=tf32x3");
}

TEST_F(Matmul, RoundedOperandsCompileForAGpu) {
  if (const std::string why = why_no_nvrtc(); !why.empty()) GTEST_SKIP() << why;
  for (const char* math : {"tf32", "bf16"})
    for (const char* tile : {"128x128x32", "16x64x64"}) {
      const std::string program = fmt::format("//! fuse linear_1 gelu_1 : tile={} math={}\n", tile, math);
      EXPECT_EQ(compiled_for(linear_gelu(70, 88, 72), program, "sm_90", Declared::paper), "compiled");
    }
}

TEST_F(Matmul, RoundsToTf32WithinItsBudget) {
  const Verdict verdict = judged(linear_gelu(64, 64, 512), "//! fuse linear_1 gelu_1 : math=tf32\n", Declared::tf32);
  EXPECT_EQ(verdict.status, "ok") << verdict.message;
  EXPECT_NE(verdict.code.find("RoundedInputs<cudal1::ToTf32>"), std::string::npos) << verdict.code;
}

TEST_F(Matmul, PlacesBeyond32BitsAreReached) {
  const Verdict verdict = planned(mm({70000, 40000}, {40000, 64}), "//! fuse matmul_1 : tile=128x64x32\n");
  EXPECT_EQ(verdict.status, "ok") << verdict.message;
  const Verdict results = planned(mm({70000, 64}, {64, 40000}), "//! fuse matmul_1 : tile=128x128x32 split=1\n");
  EXPECT_EQ(results.status, "ok") << results.message;
  EXPECT_NE(results.code.find("const unsigned long long r0"), std::string::npos) << results.code;
}

TEST_F(Matmul, NamesTheNodeThatCannotBeFused) {
  TaskText task;
  task.input("x", {4, 6}).weight("w", {6, 6}).node("relu_1", "aten::relu", {"x"});
  task.node("mm_1", "aten::mm", {"relu_1", "w"}).node("mm_2", "aten::mm", {"mm_1", "w"});
  task.node("sort_1", "aten::sort", {"mm_2"}).output("sort_1");
  EXPECT_REFUSED(task, "//! fuse *\n", "no technique fuses 'sort_1' (aten::sort); leave it to the library");
  EXPECT_REFUSED(task, "//! fuse relu_1 mm_1 mm_2\n", "no technique fuses 'mm_2' (aten::mm) together with");
}

TEST_F(Matmul, RefusesWhatItCannotWrite) {
  const TaskText task = linear_gelu(33, 35, 20);
  const std::string fuse = "//! fuse linear_1 gelu_1 : ";
  EXPECT_REFUSED(task, fuse + "math=fp64\n", "is not among the values of 'math'");
  EXPECT_REFUSED(task, fuse + "math=tensor\n", "operands of 16 bits");
  EXPECT_REFUSED(linear_gelu(33, 35, 20, {{"dtype", "f16"}}), fuse + "math=tf32x3\n", "fp32 operands");
  EXPECT_REFUSED(task, fuse + "tile=32x32x32 split=4\n", "fewer tiles than parts");
  EXPECT_REFUSED(task, fuse + "tile=rows stages=3\n", "stages=3");
  EXPECT_REFUSED(task, fuse + "tile=100x100x10\n", "is not among the values of 'tile'");
  EXPECT_REFUSED(task, fuse + "tile=rows blocks=2\n", "blocks=2 is for products by tiles");
  EXPECT_REFUSED(task, fuse + "tile=32x32x32 warps=2x8\n", "cannot be dealt out to warps=2x8");
  EXPECT_REFUSED(task, fuse + "tile=256x128x32 warps=2x1\n", "at most 64x64");
  EXPECT_REFUSED(task, fuse + "tile=128x128x32 warps=2x2 math=fp32\n", "with math=fp32 256, 512, 1024 or 2048");
  EXPECT_REFUSED(task, fuse + "math=wgmma tile=64x64x32\n", "math=wgmma has tile=128x128x32");
  EXPECT_REFUSED(task, fuse + "math=wgmma ahead=1\n", "ahead=1 is for math=tf32x3");
  EXPECT_REFUSED(task, fuse + "math=wgmma stages=3\n", "wait in registers");
  EXPECT_REFUSED(task, fuse + "math=wgmma add=16\n", "add=16 is for math=tf32x3");
  EXPECT_REFUSED(task, fuse + "add=64\n", "add=64 is for math=wgmma");
  EXPECT_REFUSED(task, fuse + "math=fp32 add=8\n", "add=8 is for math=tf32x3");
  EXPECT_REFUSED(linear_gelu(33, 35, 20, {{"dtype", "f16"}}), fuse + "ahead=1\n", "ahead=1 is for math=tf32x3");
  EXPECT_REFUSED(mm({5, 0}, {0, 7}), "//! fuse matmul_1 : tile=32x32x32\n", "nothing to multiply");
  const json integers = {{"dtype", "i64"}, {"draw", {{"kind", "integers"}, {"low", 0}, {"high", 9}}}};
  EXPECT_REFUSED(mm({5, 6}, {6, 7}, integers, integers), "//! fuse matmul_1\n", "fp32, fp16 or bf16");
}

//! s += x y, where y may be s.
TaskText updated_state(const char* right) {
  TaskText task;
  task.input("x", {33, 33}).input("y", {33, 33}).state("s", {33, 33}).node("mm_1", "aten::mm", {"x", right});
  task.node("add_1", "aten::add_.Tensor", {"s", "mm_1"}, {{"writes_state", {"s"}}});
  task.node("relu_1", "aten::relu", {"x"}).output("relu_1");
  return task;
}

TEST_F(Matmul, AddsToAStateUnlessItIsMultiplied) {
  EXPECT_RIGHT(updated_state("y"), "//! fuse mm_1 add_1 : tile=32x32x32\n");
  EXPECT_REFUSED(updated_state("s"), "//! fuse mm_1 add_1\n", "updates in place");
}

TEST_F(Matmul, RefusesResultsThatAreNoElementsOfTheProduct) {
  TaskText twice;
  twice.input("x", {33, 20}).input("y", {20, 33});
  twice.node("mm_1", "aten::mm", {"x", "y"}).node("t_1", "aten::t", {"mm_1"});
  twice.node("add_1", "aten::add.Tensor", {"mm_1", "t_1"}).output("add_1");
  EXPECT_REFUSED(twice, "//! fuse mm_1 add_1\n", "two of the product");
  TaskText wide;
  wide.input("x", {33, 20}).input("y", {20, 3}).input("z", {4, 33, 3});
  wide.node("mm_1", "aten::mm", {"x", "y"}).node("add_1", "aten::add.Tensor", {"mm_1", "z"}).output("add_1");
  EXPECT_REFUSED(wide, "//! fuse mm_1 add_1\n", "fuse them apart");
  TaskText two;
  two.input("x", {33, 33});
  two.node("mm_1", "aten::mm", {"x", "x"}).node("mm_2", "aten::mm", {"mm_1", "x"}).output("mm_2");
  EXPECT_REFUSED(two, "//! fuse mm_1 mm_2\n", "no technique fuses");
}

}  // namespace
}  // namespace cudal1::testing
