// `fuse` of nodes that are computed element by element.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "technique_harness.hpp"

namespace cudal1::testing {
namespace {

using nlohmann::json;

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

struct Op {
  std::string op;
  json args;
  json kwargs = json::object();
};

//! A node for each, n1, n2 …, all of them outputs.
std::string add_ops(TaskText& task, const std::vector<Op>& ops) {
  std::string line = "//! fuse";
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const std::string name = fmt::format("n{}", i + 1);
    task.node(name, "aten::" + ops[i].op, ops[i].args, {{"kwargs", ops[i].kwargs}}).output(name);
    line += " " + name;
  }
  return line + "\n";
}

json uniform(double low, double high) { return {{"draw", {{"kind", "uniform"}, {"low", low}, {"high", high}}}}; }
json integers(const char* dtype, int low, int high) {
  return {{"dtype", dtype}, {"draw", {{"kind", "integers"}, {"low", low}, {"high", high}}}};
}
json mask() { return {{"dtype", "bool"}, {"draw", {{"kind", "bernoulli"}, {"p", 0.5}}}}; }
json string(const char* word) { return {{"string", word}}; }
json of_type(const char* dtype) { return {{"dtype", dtype}}; }

TEST_F(Pointwise, MakesOneLaunchOfAChain) {
  const Verdict verdict = judged(bias_gelu(7, 12), "//! fuse add_1 gelu_1\n");
  EXPECT_EQ(verdict.status, "ok") << verdict.message;
  ASSERT_EQ(verdict.steps.size(), 1u);
  EXPECT_EQ(verdict.steps.front().substr(0, 7), "launch ");
  EXPECT_EQ(verdict.techniques, std::vector<std::string>{"pointwise"});
}

TEST_F(Pointwise, IsRightForOddSizes) {
  for (const auto& [rows, columns] : {std::pair{1, 1}, {13, 1}, {31, 37}, {5, 1030}, {0, 5}})
    EXPECT_RIGHT(bias_gelu(rows, columns), "//! fuse add_1 gelu_1\n");
}

TEST_F(Pointwise, EveryParameterValueIsRight) {
  for (const char* parameters : {"vector=1 items=8 block=64", "vector=2 items=4 block=1024",
                                 "vector=4 items=2 block=128", "items=1 block=512", "vector=auto block=256"})
    EXPECT_RIGHT(bias_gelu(13, 20), fmt::format("//! fuse add_1 gelu_1 : {}\n", parameters));
  TaskText halves;
  halves.input("x", {3, 16}, {{"dtype", "f16"}}).node("relu_1", "aten::relu", {"x"}).output("relu_1");
  EXPECT_RIGHT(halves, "//! fuse relu_1 : vector=8\n");
}

TEST_F(Pointwise, FunctionsOfAnyNumberArePyTorchs) {
  TaskText task;
  task.input("x", {5, 13});
  std::vector<Op> ops;
  for (const char* name :
       {"exp",         "expm1",      "sin",      "cos",   "tan",        "atan",       "sinh",      "cosh",
        "tanh",        "asinh",      "erf",      "erfc",  "floor",      "ceil",       "trunc",     "round",
        "reciprocal",  "sigmoid",    "silu",     "mish",  "selu",       "relu6",      "hardswish", "hardsigmoid",
        "log_sigmoid", "relu",       "sign",     "abs",   "neg",        "square",     "gelu",      "elu",
        "softplus",    "leaky_relu", "hardtanh", "exp2",  "hardshrink", "softshrink", "celu",      "isnan",
        "isinf",       "isfinite",   "frac",     "clone", "positive",   "zeros_like", "ones_like"})
    ops.push_back({name, {"x"}});
  EXPECT_RIGHT(task, add_ops(task, ops));
}

TEST_F(Pointwise, CastsToNarrowerIntegersOverflow) {
  TaskText task;
  task.input("x", {9}, integers("i64", 0, 1000)).input("i", {9}, integers("i64", 0, 9));
  task.node("to_1", "aten::to.dtype", {"x", of_type("i8")}).node("to_2", "aten::to.dtype", {"to_1", of_type("f32")});
  task.node("gather_1", "aten::gather", {"x", 0, "i"}).node("to_3", "aten::to.dtype", {"gather_1", of_type("u8")});
  task.node("lt_1", "aten::lt.Scalar", {"to_3", 100}).output("to_2").output("lt_1");
  EXPECT_RIGHT(task, "//! fuse to_1 to_2\n//! fuse gather_1 to_3 lt_1\n");
}

//! x less what it is in 16 bits.
TaskText lost_in(const char* dtype) {
  TaskText task;
  task.input("x", {4, 33}).node("to_1", "aten::to.dtype", {"x", of_type(dtype)});
  task.node("to_2", "aten::to.dtype", {"to_1", of_type("f32")}).node("sub_1", "aten::sub.Tensor", {"to_2", "x"});
  task.output("sub_1");
  return task;
}

TEST_F(Pointwise, CastsTo16BitsRound) {
  for (const char* dtype : {"f16", "bf16"}) EXPECT_RIGHT(lost_in(dtype), "//! fuse to_1 to_2 sub_1\n");
  TaskText large;
  large.input("x", {4, 33}).node("mul_1", "aten::mul.Tensor", {"x", 100000.0});
  large.node("to_1", "aten::_to_copy", {"mul_1"}, {{"kwargs", {{"dtype", of_type("f16")}}}});
  large.node("isinf_1", "aten::isinf", {"to_1"}).output("isinf_1");
  EXPECT_RIGHT(large, "//! fuse mul_1 to_1 isinf_1\n");
  TaskText stored;
  stored.input("x", {4, 33}).node("to_1", "aten::to.dtype", {"x", of_type("f16")}).output("to_1");
  const Verdict verdict = judged(stored, "//! fuse to_1\n");
  EXPECT_EQ(verdict.status, "ok") << verdict.message;
  EXPECT_EQ(verdict.code.find("to_float"), std::string::npos) << verdict.code;
}

TEST_F(Pointwise, ArgumentsMayHaveNames) {
  TaskText task;
  task.input("i", {9}, integers("i32", -7, 8)).input("x", {9}).input("y", {9});
  const std::vector<Op> ops = {{"lt.Scalar", {"i"}, {{"other", 0.5}}},
                               {"gt.Tensor", json::array(), {{"self", "x"}, {"other", "y"}}},
                               {"isnan", json::array(), {{"self", "x"}}},
                               {"isfinite", json::array(), {{"self", "x"}}}};
  EXPECT_RIGHT(task, add_ops(task, ops));
  for (const double scale : {3.9, 3.0}) {
    TaskText stretched;
    stretched.input("x", {1, 2, 8, 8});
    stretched.node("up_1", "aten::upsample_nearest2d", {"x", {24, 24}},
                   {{"kwargs", {{"scales_h", scale}, {"scales_w", scale}}}});
    stretched.output("up_1");
    if (scale == 3.0)
      EXPECT_RIGHT(stretched, "//! fuse up_1\n");
    else
      EXPECT_REFUSED(stretched, "//! fuse up_1\n", "no whole number");
  }
}

TEST_F(Pointwise, FactorsOfSumsAreExact) {
  TaskText task;
  task.input("a", {33}, mask()).input("b", {33}, mask()).input("i", {33}, integers("i64", -7, 8));
  const std::vector<Op> ops = {{"add.Tensor", {"a", "b"}, {{"alpha", 0}}},
                               {"add.Tensor", {"a", "b"}, {{"alpha", 2}}},
                               {"sub.Tensor", {"i", "i"}, {{"alpha", 9007199254740993}}},
                               {"rsub.Tensor", {"i", "i"}, {{"alpha", 3}}}};
  EXPECT_RIGHT(task, add_ops(task, ops));
}

TEST_F(Pointwise, FunctionsWithParametersArePyTorchs) {
  TaskText task;
  task.input("x", {5, 13}).input("p", {5, 13}, uniform(0.05, 0.95)).weight("w", {13});
  const std::vector<Op> ops = {
      {"gelu", {"x"}, {{"approximate", string("tanh")}}},
      {"elu", {"x", 0.7, 1.3, 0.5}},
      {"softplus", {"x", 2.0, 1.0}},
      {"leaky_relu", {"x", 0.2}},
      {"hardtanh", {"x", -0.3, 0.8}},
      {"threshold", {"x", 0.25, -2.0}},
      {"celu", {"x", 0.5}},
      {"hardshrink", {"x", 0.1}},
      {"logit", {"p", 0.1}},
      {"log", {"p"}},
      {"log2", {"p"}},
      {"log10", {"p"}},
      {"log1p", {"p"}},
      {"sqrt", {"p"}},
      {"rsqrt", {"p"}},
      {"asin", {"p"}},
      {"acos", {"p"}},
      {"atanh", {"p"}},
      {"pow.Tensor_Scalar", {"p", 2.5}},
      {"pow.Tensor_Scalar", {"x", 3}},
      {"pow.Tensor_Scalar", {"p", -0.5}},
      {"pow.Tensor_Scalar", {"p", -2}},
      {"pow.Scalar", {2.0, "x"}},
      {"pow.Tensor_Tensor", {"p", "x"}},
      {"prelu", {"x", "w"}},
      {"clamp", {"x", -0.5, 0.5}},
      {"clamp", {"x", nullptr, 0.5}},
      {"clamp_min", {"x", 0.1}},
      {"clamp_max", {"x", 0.1}},
      {"dropout", {"x", 0.5, false}},
      {"full_like", {"x", 2.5}},
      {"fill.Scalar", {"x", -1.5}},
  };
  EXPECT_RIGHT(task, add_ops(task, ops));
}

TEST_F(Pointwise, FunctionsOfTwoBroadcastInAllPositions) {
  TaskText task;
  task.input("x", {3, 4, 5}).input("y", {4, 1}, uniform(0.5, 2.0)).input("z", {3, 1, 5}).input("s", {});
  task.node("positive_1", "aten::gt.Scalar", {"x", 0.1});
  const std::vector<Op> ops = {
      {"add.Tensor", {"x", "y"}, {{"alpha", 0.5}}},
      {"sub.Tensor", {"x", "z"}, {{"alpha", 2}}},
      {"rsub.Scalar", {"x", 1.5, 0.5}},
      {"mul.Tensor", {"x", "s"}},
      {"div.Tensor", {"x", "y"}},
      {"div.Tensor_mode", {"x", "y"}, {{"rounding_mode", string("floor")}}},
      {"div.Tensor_mode", {"x", "y"}, {{"rounding_mode", string("trunc")}}},
      {"floor_divide", {"x", "y"}},
      {"remainder.Tensor", {"x", "y"}},
      {"fmod.Tensor", {"x", "y"}},
      {"maximum", {"z", "x"}},
      {"minimum", {"x", "z"}},
      {"max.other", {"x", "y"}},
      {"atan2", {"x", "z"}},
      {"hypot", {"x", "z"}},
      {"logaddexp", {"x", "z"}},
      {"xlogy.Tensor", {"x", "y"}},
      {"lerp.Scalar", {"x", "x", 0.3}},
      {"addcmul", {"x", "z", "y"}, {{"value", 0.5}}},
      {"addcdiv", {"x", "z", "y"}},
      {"where.self", {"positive_1", "x", "z"}},
  };
  EXPECT_RIGHT(task, add_ops(task, ops) + "//! fuse positive_1\n");
}

TEST_F(Pointwise, ComparisonsMasksAndBitsAreExact) {
  TaskText task;
  task.input("x", {6, 7}).input("m", {6, 7}, mask()).input("i", {6, 7}, integers("i32", -9, 9));
  task.input("j", {7}, integers("i64", 1, 5));
  const std::vector<Op> ops = {{"eq.Tensor", {"i", "j"}},
                               {"ne.Tensor", {"i", "j"}},
                               {"lt.Scalar", {"x", 0.5}},
                               {"le.Tensor", {"i", "j"}},
                               {"gt.Scalar", {"i", 2}},
                               {"ge.Scalar", {"i", 2.5}},
                               {"logical_and", {"m", "x"}},
                               {"logical_or", {"m", "i"}},
                               {"logical_xor", {"m", "i"}},
                               {"logical_not", {"i"}},
                               {"bitwise_and.Tensor", {"i", "j"}},
                               {"bitwise_or.Tensor", {"i", "j"}},
                               {"bitwise_xor.Tensor", {"i", "j"}},
                               {"bitwise_not", {"m"}},
                               {"bitwise_not", {"i"}},
                               {"masked_fill.Scalar", {"x", "m", -2.0}},
                               {"where.self", {"m", "x", "i"}},
                               {"tril", {"x", 1}},
                               {"triu", {"x", -1}},
                               {"tril", {"m"}},
                               {"add.Tensor", {"m", "i"}},
                               {"clamp", {"i", -2, 3}},
                               {"abs", {"i"}},
                               {"neg", {"i"}},
                               {"sign", {"i"}},
                               {"relu", {"i"}},
                               {"floor_divide.Scalar", {"i", 4}},
                               {"remainder.Scalar", {"i", -4}},
                               {"fmod.Scalar", {"i", 4}},
                               {"pow.Tensor_Scalar", {"i", 3}},
                               {"floor", {"i"}},
                               {"div.Tensor", {"i", "j"}},
                               {"_to_copy", {"x"}, {{"dtype", of_type("i32")}}},
                               {"_to_copy", {"i"}, {{"dtype", of_type("bool")}}},
                               {"_to_copy", {"i"}, {{"dtype", of_type("f16")}}},
                               {"isnan", {"i"}},
                               {"isfinite", {"i"}}};
  EXPECT_RIGHT(task, add_ops(task, ops));
}

TEST_F(Pointwise, SmallIntegersOverflowAsPyTorchsDo) {
  TaskText task;
  task.input("a", {40}, integers("i8", -128, 128)).input("b", {40}, integers("u8", 0, 256));
  task.input("c", {40}, integers("i16", -32768, 32767)).input("d", {40}, integers("i32", -2147483647, 2147483647));
  task.node("n1", "aten::mul.Tensor", {"a", "a"}).node("n2", "aten::gt.Scalar", {"n1", 5});
  task.node("n3", "aten::add.Tensor", {"b", "b"}).node("n4", "aten::floor_divide.Scalar", {"n3", 2});
  task.node("n5", "aten::mul.Tensor", {"c", "c"}).node("n6", "aten::bitwise_and.Scalar", {"n5", 255});
  task.node("n7", "aten::mul.Tensor", {"d", "d"}).node("n8", "aten::floor_divide.Scalar", {"n7", 3});
  task.node("n9", "aten::mul.Scalar", {"d", 4611686018427387905});
  for (const char* name : {"n2", "n4", "n6", "n8", "n9"}) task.output(name);
  EXPECT_RIGHT(task, "//! fuse n1 n2 n3 n4 n5 n6 n7 n8 n9\n");
}

TEST_F(Pointwise, HalfTypesAreComputedInFloat) {
  for (const char* dtype : {"f16", "bf16"}) {
    TaskText task;
    task.input("x", {5, 24}, {{"dtype", dtype}}).input("y", {24}, {{"dtype", dtype}}).input("z", {5, 1});
    task.node("add_1", "aten::add.Tensor", {"x", "y"}).node("silu_1", "aten::silu", {"add_1"});
    task.node("mul_1", "aten::mul.Tensor", {"silu_1", "z"}).output("silu_1").output("mul_1");
    EXPECT_RIGHT(task, "//! fuse add_1 silu_1 mul_1\n");
  }
}

TEST_F(Pointwise, StridedInputsAreReadWhereTheyLie) {
  TaskText task;
  task.input("t", {6, 8}, {{"strides", {1, 6}}}).input("g", {6, 8}, {{"strides", {16, 2}}});
  task.input("r", {6, 8}, {{"strides", {12, 1}}});
  task.node("add_1", "aten::add.Tensor", {"t", "g"}).node("mul_1", "aten::mul.Tensor", {"add_1", "r"}).output("mul_1");
  EXPECT_RIGHT(task, "//! fuse add_1 mul_1\n");
  EXPECT_RIGHT(task, "//! fuse add_1\n");
}

TEST_F(Pointwise, GoesThroughViews) {
  TaskText task;
  task.input("x", {4, 6, 5}).weight("w", {30});
  task.node("relu_1", "aten::relu", {"x"}).node("view_1", "aten::view", {"relu_1", {4, 30}});
  task.node("add_1", "aten::add.Tensor", {"view_1", "w"}).node("reshape_1", "aten::reshape", {"add_1", {4, 3, 2, 5}});
  task.node("permute_1", "aten::permute", {"reshape_1", {0, 2, 1, 3}}).node("tanh_1", "aten::tanh", {"permute_1"});
  task.node("select_1", "aten::select.int", {"tanh_1", 1, 1});
  task.node("slice_1", "aten::slice.Tensor", {"select_1", 2, 1, 4});
  task.node("unsqueeze_1", "aten::unsqueeze", {"slice_1", 1}).node("exp_1", "aten::exp", {"unsqueeze_1"});
  task.output("exp_1");
  EXPECT_RIGHT(task, "//! fuse relu_1 view_1 add_1 reshape_1 permute_1 tanh_1 select_1 slice_1 unsqueeze_1 exp_1\n");
  TaskText parts;
  parts.input("x", {3, 8}).node("sin_1", "aten::sin", {"x"}).node("chunk_1", "aten::chunk", {"sin_1", 2, 1});
  parts.node("mul_1", "aten::mul.Tensor", {"chunk_1", "chunk_1[1]"}).output("mul_1");
  EXPECT_RIGHT(parts, "//! fuse sin_1 mul_1\n");
}

TEST_F(Pointwise, DividesIndicesWhereLoopsDoNotFitAView) {
  TaskText task;
  task.input("x", {5, 6}).node("relu_1", "aten::relu", {"x"}).node("view_1", "aten::view", {"relu_1", {30}});
  task.node("slice_1", "aten::slice.Tensor", {"view_1", 0, 7, 20}).node("neg_1", "aten::neg", {"slice_1"});
  task.output("neg_1");
  EXPECT_RIGHT(task, "//! fuse relu_1 neg_1\n");
  TaskText copied;
  copied.input("x", {5, 6}).node("relu_1", "aten::relu", {"x"}).node("t_1", "aten::t", {"relu_1"});
  copied.node("reshape_1", "aten::reshape", {"t_1", {3, 10}}).node("abs_1", "aten::abs", {"reshape_1"}).output("abs_1");
  EXPECT_RIGHT(copied, "//! fuse relu_1 reshape_1 abs_1\n");
}

TEST_F(Pointwise, WritesEveryValueThatOthersRead) {
  TaskText task;
  task.input("x", {4, 9}).node("relu_1", "aten::relu", {"x"}).node("exp_1", "aten::exp", {"relu_1"});
  task.node("sum_1", "aten::sum.dim_IntList", {"relu_1", {1}}).node("mul_1", "aten::mul.Tensor", {"exp_1", "relu_1"});
  task.output("exp_1").output("mul_1").output("sum_1");
  EXPECT_RIGHT(task, "//! fuse relu_1 exp_1 mul_1\n");
}

TEST_F(Pointwise, MovesElements) {
  TaskText task;
  task.input("x", {3, 4, 6}).input("y", {3, 2, 6}).input("z", {3, 4, 6});
  task.input("rows", {5}, integers("i64", 0, 4)).input("at", {3, 2, 6}, integers("i64", 0, 4));
  task.weight("table", {7, 3}).input("words", {2, 4}, integers("i32", 0, 7));
  const json pair = json::array({"r1", "z"});
  task.node("r1", "aten::relu", {"x"}).node("z_0", "aten::select.int", {"z", 1, 0});
  const std::vector<Op> ops = {{"cat", {{"r1", "y", "z"}, 1}},
                               {"cat", {pair, 0}},
                               {"cat", {json::array({"y"}), -1}},
                               {"stack", {pair, 1}},
                               {"constant_pad_nd", {"r1", {1, 2, 0, 3}, 0.5}},
                               {"constant_pad_nd", {"x", {-1, 2}}},
                               {"pad", {"x", {2, 1}, string("reflect")}},
                               {"pad", {"x", {2, 1}, string("replicate")}},
                               {"pad", {"x", {2, 3}, string("circular")}},
                               {"reflection_pad1d", {"x", {3, 3}}},
                               {"flip", {"r1", {0, 2}}},
                               {"roll", {"r1", {2, -1}, {2, 1}}},
                               {"repeat", {"r1", {2, 1, 3, 2}}},
                               {"repeat_interleave.self_int", {"r1", 3, 1}},
                               {"upsample_nearest1d.vec", {"x", nullptr, {2.0}}},
                               {"glu", {"x", 1}},
                               {"embedding", {"table", "words"}},
                               {"index_select", {"r1", 1, "rows"}},
                               {"gather", {"r1", 1, "at"}},
                               {"index.Tensor", {"x", {nullptr, "rows"}}},
                               {"diag", {"rows"}},
                               {"diag", {"rows", -2}},
                               {"diag", {"rows", 1}},
                               {"diag", {"table", 1}},
                               {"select_scatter", {"r1", "z_0", 1, 2}},
                               {"slice_scatter", {"r1", "y", 1, 1, 3}}};
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const std::string name = fmt::format("n{}", i + 1);
    task.node(name, "aten::" + ops[i].op, ops[i].args).node(name + "t", "aten::tanh", {name}).output(name + "t");
  }
  std::string program = "//! fuse r1\n";
  for (std::size_t i = 0; i < ops.size(); ++i) program += fmt::format("//! fuse n{0} n{0}t\n", i + 1);
  EXPECT_RIGHT(task, program);
}

TEST_F(Pointwise, ComputesBeforeAndAfterElementsMove) {
  TaskText task;
  task.input("x", {2, 8, 3, 3}).input("y", {2, 3, 6, 6});
  task.node("relu_1", "aten::relu", {"x"}).node("pixel_shuffle_1", "aten::pixel_shuffle", {"relu_1", 2});
  task.node("abs_1", "aten::abs", {"y"}).node("cat_1", "aten::cat", {{"abs_1", "pixel_shuffle_1"}, 1});
  task.node("pad_1", "aten::constant_pad_nd", {"cat_1", {1, 1, 1, 1}}).node("flip_1", "aten::flip", {"pad_1", {3}});
  task.node("sin_1", "aten::sin", {"flip_1"}).node("pixel_unshuffle_1", "aten::pixel_unshuffle", {"sin_1", 4});
  task.node("upsample_1", "aten::upsample_nearest2d.vec", {"pixel_unshuffle_1", nullptr, {2.0, 3.0}});
  task.output("upsample_1");
  EXPECT_RIGHT(task, "//! fuse relu_1 pixel_shuffle_1 abs_1 cat_1 pad_1 flip_1 sin_1 pixel_unshuffle_1 upsample_1\n");
}

TEST_F(Pointwise, MakesConstants) {
  TaskText task;
  task.input("x", {4, 6}).input("classes", {3, 2}, integers("i64", 0, 5));
  task.node("arange_1", "aten::arange.start_step", {1, 13, 2}).node("arange_2", "aten::arange", {6});
  task.node("linspace_1", "aten::linspace", {-1.0, 2.0, 6}).node("full_1", "aten::full", {{4, 1}, 0.25});
  task.node("eye_1", "aten::eye.m", {4, 6}).node("add_1", "aten::add.Tensor", {"x", "arange_1"});
  task.node("add_2", "aten::add.Tensor", {"add_1", "linspace_1"});
  task.node("mul_1", "aten::mul.Tensor", {"add_2", "full_1"});
  task.node("add_3", "aten::add.Tensor", {"mul_1", "eye_1"}).node("add_4", "aten::add.Tensor", {"add_3", "arange_2"});
  task.node("one_hot_1", "aten::one_hot", {"classes", 5}).output("add_4").output("one_hot_1");
  EXPECT_RIGHT(
      task, "//! fuse arange_1 arange_2 linspace_1 full_1 eye_1 add_1 add_2 mul_1 add_3 add_4\n//! fuse one_hot_1\n");
}

TEST_F(Pointwise, UpdatesStates) {
  TaskText task;
  task.input("x", {7}).state("count", {}, integers("i64", 3, 4)).state("mean", {7});
  task.node("add_1", "aten::add_.Tensor", {"count", 1}, {{"writes_state", {"count"}}});
  task.node("relu_1", "aten::relu", {"x"});
  task.node("copy_1", "aten::copy_", {"mean", "relu_1"}, {{"writes_state", {"mean"}}}).output("relu_1");
  EXPECT_RIGHT(task, "//! fuse add_1\n//! fuse relu_1 copy_1\n");
  TaskText both = task;
  both.node("mul_1", "aten::mul.Tensor", {"mean", "relu_1"}).output("mul_1");
  EXPECT_REFUSED(both, "//! fuse relu_1 copy_1 mul_1\n", "another node here updates");
}

//! By numbers that the compiler knows, with rests of either sign.
TEST_F(Pointwise, DividesIntegersOf64Bits) {
  for (const int divisor : {7, -7, 3, 8, 1}) {
    TaskText task;
    task.input("i", {9, 7}, integers("i64", -50, 50)).node("n1", "aten::remainder.Scalar", {"i", divisor});
    task.node("n2", "aten::floor_divide.Scalar", {"i", divisor}).node("n3", "aten::fmod.Scalar", {"i", divisor});
    EXPECT_RIGHT(task.output("n1").output("n2").output("n3"), "//! fuse n1 n2 n3\n");
  }
}

TEST_F(Pointwise, NormalisesByGivenStatistics) {
  TaskText task;
  task.input("x", {2, 3, 5}).weight("w", {3}).weight("b", {3}).weight("0.mean", {3});
  task.weight("var.1", {3}, uniform(0.5, 2.0));
  task.node("batch_norm_1", "aten::batch_norm", {"x", "w", "b", "0.mean", "var.1", false, 0.1, 1e-5, true});
  task.node("relu_1", "aten::relu", {"batch_norm_1"}).output("relu_1");
  EXPECT_RIGHT(task, "//! fuse batch_norm_1 relu_1\n");
}

TEST_F(Pointwise, IndexesBeyond32Bits) {
  TaskText task;
  task.input("x", {3, 1431655765}).node("neg_1", "aten::neg", {"x"}).output("neg_1");
  const Verdict verdict = planned(task, "//! fuse neg_1\n");
  EXPECT_EQ(verdict.status, "ok") << verdict.message;
  EXPECT_NE(verdict.code.find("const unsigned long long i ="), std::string::npos) << verdict.code;
  TaskText small;
  small.input("x", {3, 4}).node("relu_1", "aten::relu", {"x"}).output("relu_1");
  EXPECT_EQ(planned(small, "//! fuse relu_1\n").code.find("long long"), std::string::npos);
  TaskText apart;  // few elements, far from each other
  apart.input("x", {2, 4}, {{"strides", {2200000000, 1}}}).node("neg_1", "aten::neg", {"x"}).output("neg_1");
  EXPECT_NE(planned(apart, "//! fuse neg_1\n").code.find("2200000000ull"), std::string::npos);
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

TEST_F(Pointwise, RefusesWhatItCannotWrite) {
  EXPECT_REFUSED(bias_gelu(4, 4), "//! fuse add_1 nothing_1\n", "nothing_1");
  EXPECT_REFUSED(bias_gelu(4, 5), "\n//! fuse add_1 gelu_1 : vector=4\n", "vector=4 does not divide");
  EXPECT_REFUSED(bias_gelu(4, 4), "//! fuse add_1 gelu_1 : width=4\n", "width");
  EXPECT_REFUSED(bias_gelu(4, 4), "//! fuse add_1 gelu_1 : items=3\n", "items");
  TaskText sizes;
  sizes.input("x", {4, 5}).input("y", {5}).node("exp_1", "aten::exp", {"y"});
  sizes.node("add_1", "aten::add.Tensor", {"x", "exp_1"});
  sizes.output("add_1").output("exp_1");
  EXPECT_REFUSED(sizes, "//! fuse exp_1 add_1\n", "smaller than");
  TaskText doubles;
  doubles.input("x", {4}, {{"dtype", "f64"}}).node("exp_1", "aten::exp", {"x"}).output("exp_1");
  EXPECT_REFUSED(doubles, "//! fuse exp_1\n", "fp64");
  TaskText decimals;
  decimals.input("x", {4}).node("round_1", "aten::round.decimals", {"x"}, {{"kwargs", {{"decimals", 2}}}});
  decimals.output("round_1");
  EXPECT_REFUSED(decimals, "//! fuse round_1\n", "decimals");
  TaskText bytes;
  bytes.input("x", {4}).node("exp_1", "aten::exp", {"x"}).node("view_1", "aten::view.dtype", {"exp_1", of_type("i32")});
  bytes.node("neg_1", "aten::neg", {"view_1"}).output("neg_1");
  EXPECT_REFUSED(bytes, "//! fuse exp_1 neg_1\n", "another type");
}

TEST_F(Pointwise, NamesTheLineWhereOthersMustRunInBetween) {
  TaskText task;
  task.input("x", {4, 4}).node("relu_1", "aten::relu", {"x"}).node("mm_1", "aten::mm", {"relu_1", "x"});
  task.node("add_1", "aten::add.Tensor", {"relu_1", "mm_1"}).output("add_1");
  const Verdict verdict = planned(task, "// a comment\n//! fuse relu_1 add_1\n");
  EXPECT_NE(verdict.message.find("cannot run as one"), std::string::npos) << verdict.message;
  EXPECT_EQ(verdict.line, 2);
}

}  // namespace
}  // namespace cudal1::testing
