#include "graph/executor.hpp"

#include <fmt/format.h>

#include <ATen/Parallel.h>

#include "graph/aten_call.hpp"
#include "graph/tf32_rounding.hpp"
#include "tensor_helpers.hpp"

namespace cudal1 {
namespace {

using testing::draw_leaves;
using testing::expect_same;
using testing::make_task;
using testing::message_of;
using testing::one_input;
using testing::run_task;

std::string leaf(const std::string& name, const std::string& dtype, const std::string& shape) {
  return R"({"name": ")" + name + R"(", "dtype": ")" + dtype + R"(", "shape": )" + shape +
         R"(, "draw": {"kind": "normal"}})";
}

std::string inputs(const std::string& leaves) { return R"("inputs": [)" + leaves + "]"; }

//! The message when this one node is resolved.
std::string refusal(const std::string& node) {
  const Task task = make_task(one_input("f32", "[2, 3]"), node, R"("n")");
  return message_of([&] { Executor executor(task.graph, {}); });
}

Task relu_of_noise() {
  return make_task(one_input("f32", "[4, 5]"), R"(
      {"name": "rand_1", "op": "aten::rand_like", "args": ["x"]},
      {"name": "relu_1", "op": "aten::relu", "args": ["rand_1"]},
      {"name": "sum_1", "op": "aten::sum.dim_IntList", "args": ["relu_1", [0, 1]]})",
                   R"("relu_1", "sum_1")");
}

TEST(Executor, LetsASubstituteComputeNodesInsteadOfTheirOperators) {
  std::vector<std::string> asked;
  const Substitute fills_relu = [&](const Node& node, const AtenCall& call,
                                    const TensorTable& values) -> std::optional<std::vector<at::Tensor>> {
    asked.push_back(node.name);
    if (node.name != "relu_1") return std::nullopt;
    return std::vector{at::full_like(values[call.values_of("self").at(0)], 3.0)};
  };
  const Task task = relu_of_noise();
  const auto outputs = run_task(task, draw_leaves(task), {.substitute = fills_relu});
  expect_same(outputs[0], at::full({4, 5}, 3.0f));
  expect_same(outputs[1], at::full({}, 60.0f));
  EXPECT_EQ(asked, (std::vector<std::string>{"relu_1", "sum_1"})) << "random numbers have to be those of all runs";
}

TEST(Executor, NamesTheNodeWhoseSubstituteFails) {
  const Substitute fails = [](const Node&, const AtenCall&, const TensorTable&) {
    return std::optional(std::vector{at::ones({2}) + at::ones({3})});
  };
  const Task task = relu_of_noise();
  EXPECT_TRUE(message_of([&] {
                run_task(task, draw_leaves(task), {.substitute = fails});
              }).starts_with("node relu_1 (aten::relu): The size of tensor a (2)"));
}

TEST(Executor, RunsNodesInOrderAndReturnsTheOutputsAsked) {
  const Task task = make_task(one_input("f32", "[4, 5]"), R"(
      {"name": "softmax_1", "op": "aten::softmax.int", "args": ["x", -1]},
      {"name": "add_1", "op": "aten::add.Tensor", "args": ["softmax_1", "x"], "kwargs": {"alpha": 2}})",
                              R"("add_1", "softmax_1", "x")");
  const TensorTable leaves = draw_leaves(task);
  const auto outputs = run_task(task, leaves);
  expect_same(outputs[1], at::softmax(leaves[0], -1));
  expect_same(outputs[0], at::add(at::softmax(leaves[0], -1), leaves[0], 2));
  expect_same(outputs[2], leaves[0]);
}

TEST(Executor, LetsAHookReplaceResultsBeforeTheyAreRead) {
  const Task task = make_task(one_input("f32", "[4, 5]"), R"(
      {"name": "tanh_1", "op": "aten::tanh", "args": ["x"]},
      {"name": "add_1", "op": "aten::add.Tensor", "args": ["tanh_1", "x"]})",
                              R"("add_1")");
  const TensorTable leaves = draw_leaves(task);
  const auto double_the_tanh = [](const Node& node, const TensorTable& values, std::vector<at::Tensor>& results) {
    EXPECT_TRUE(values[0].defined());
    if (node.name == "tanh_1") results[0] = results[0] * 2.0;
  };
  expect_same(Executor(task.graph, {}).run(leaves, double_the_tanh).outputs[0], at::tanh(leaves[0]) * 2.0 + leaves[0]);
}

TEST(Executor, GivesSecondOutputsAndFlattensLists) {
  const Task task = make_task(one_input("f32", "[4, 6]"), R"(
      {"name": "max_1", "op": "aten::max.dim", "args": ["x", 1, true]},
      {"name": "split_1", "op": "aten::split.Tensor", "args": ["x", 2, 1]})",
                              R"("max_1[1]", "split_1[2]")");
  const TensorTable leaves = draw_leaves(task);
  const auto outputs = run_task(task, leaves);
  expect_same(outputs[0], std::get<1>(at::max(leaves[0], 1, true)));
  expect_same(outputs[1], leaves[0].split(2, 1)[2]);
}

TEST(Executor, TakesTensorListsOptionalTensorListsAndStrings) {
  const Task task = make_task(
      inputs(leaf("x", "f32", "[4, 5]") + "," + leaf("y", "f32", "[5, 3]") +
             R"(, {"name": "i", "dtype": "i64", "shape": [7], "draw": {"kind": "integers", "low": 0, "high": 5}})"),
      R"({"name": "cat_1", "op": "aten::cat", "args": [["x", "x"], 1]},
         {"name": "einsum_1", "op": "aten::einsum", "args": [{"string": "ab,bc->ca"}, ["x", "y"]]},
         {"name": "index_1", "op": "aten::index.Tensor", "args": ["x", [null, "i"]]},
         {"name": "gelu_1", "op": "aten::gelu", "args": ["x"], "kwargs": {"approximate": {"string": "tanh"}}})",
      R"("cat_1", "einsum_1", "index_1", "gelu_1")");
  const TensorTable leaves = draw_leaves(task);
  const auto outputs = run_task(task, leaves);
  expect_same(outputs[0], at::cat({leaves[0], leaves[0]}, 1));
  expect_same(outputs[1], at::einsum("ab,bc->ca", {leaves[0], leaves[1]}));
  expect_same(outputs[2], leaves[0].index_select(1, leaves[2]));
  expect_same(outputs[3], at::gelu(leaves[0], "tanh"));
}

TEST(Executor, ConvertsNumbersAsTheSchemaWants) {
  const Task task = make_task(one_input("f16", "[2, 8]"), R"(
      {"name": "norm_1", "op": "aten::layer_norm", "args": ["x", [8], null, null, 1]},
      {"name": "add_1", "op": "aten::add.Tensor", "args": ["x", 0.5]},
      {"name": "pad_1", "op": "aten::constant_pad_nd", "args": ["x", [1, 1]], "kwargs": {"value": {"float": "-inf"}}},
      {"name": "full_1", "op": "aten::full", "args": [[2, 8], 3], "kwargs": {"dtype": {"dtype": "i32"}, "device": null}},
      {"name": "last_1", "op": "aten::clone", "args": ["x"], "kwargs": {"memory_format": {"string": "contiguous_format"}}})",
                              R"("norm_1", "add_1", "pad_1", "full_1", "last_1")");
  const TensorTable leaves = draw_leaves(task);
  const auto outputs = run_task(task, leaves);
  expect_same(outputs[0], at::layer_norm(leaves[0], {8}, {}, {}, 1.0));
  expect_same(outputs[1], leaves[0] + 0.5);  // stays f16: a number does not widen
  expect_same(outputs[2], at::constant_pad_nd(leaves[0], {1, 1}, -INFINITY));
  expect_same(outputs[3], at::full({2, 8}, 3, at::kInt));
  expect_same(outputs[4], leaves[0]);
}

TEST(Executor, RunsHalfPrecisionInItsOwnDtype) {
  for (const char* dtype : {"f16", "bf16"}) {
    const Task task = make_task(inputs(leaf("x", dtype, "[8, 16]") + "," + leaf("y", dtype, "[16, 8]")),
                                R"({"name": "mm_1", "op": "aten::mm", "args": ["x", "y"]})", R"("mm_1")");
    const TensorTable leaves = draw_leaves(task);
    expect_same(run_task(task, leaves)[0], at::mm(leaves[0], leaves[1]));
  }
}

TEST(Oracle, ComputesInDoubleFromWidenedLeaves) {
  const Task task = make_task(inputs(leaf("x", "f16", "[8, 16]") + "," + leaf("y", "f16", "[16, 8]")),
                              R"({"name": "mm_1", "op": "aten::mm", "args": ["x", "y"]})", R"("mm_1")");
  const TensorTable leaves = draw_leaves(task);
  expect_same(run_task(task, leaves, {.fp64 = true})[0], at::mm(leaves[0].to(at::kDouble), leaves[1].to(at::kDouble)));
}

TEST(Oracle, WidensComputeDtypesAndLeavesTheOthers) {
  const Task task = make_task(one_input("f16", "[4, 5]"), R"(
      {"name": "softmax_1", "op": "aten::softmax.int", "args": ["x", -1, {"dtype": "f32", "compute": true}]},
      {"name": "to_1", "op": "aten::to.dtype", "args": ["x", {"dtype": "f32", "compute": true}]},
      {"name": "to_2", "op": "aten::to.dtype", "args": ["x", {"dtype": "i32"}]})",
                              R"("softmax_1", "to_1", "to_2")");
  const TensorTable leaves = draw_leaves(task);
  const auto oracle = run_task(task, leaves, {.fp64 = true});
  expect_same(oracle[0], at::softmax(leaves[0].to(at::kDouble), -1));
  expect_same(oracle[1], leaves[0].to(at::kDouble));
  EXPECT_EQ(oracle[2].scalar_type(), at::kInt);
  const auto reference = run_task(task, leaves);
  expect_same(reference[0], at::softmax(leaves[0], -1, at::kFloat));
  EXPECT_EQ(reference[1].scalar_type(), at::kFloat);
}

TEST(Executor, StateIsWrittenInPlaceAndReadAfterwards) {
  const Task task = make_task(one_input("f32", "[3]") + R"(, "state": [
      {"name": "s", "dtype": "f32", "shape": [3], "draw": {"kind": "constant", "value": 5}},
      {"name": "calls", "dtype": "i64", "shape": [], "draw": {"kind": "constant", "value": 0}}])",
                              R"({"name": "before", "op": "aten::mul.Tensor", "args": ["s", 1]},
      {"name": "add_1", "op": "aten::add_.Tensor", "args": ["calls", 1], "writes_state": ["calls"]},
      {"name": "copy_1", "op": "aten::copy_", "args": ["s", "x"], "writes_state": ["s"]},
      {"name": "after", "op": "aten::mul.Tensor", "args": ["s", 1]})",
                              R"("before", "after")");
  TensorTable leaves = draw_leaves(task);
  for (int call = 0; call < 2; ++call) {
    const ExecutionResult result = Executor(task.graph, {}).run(leaves);
    expect_same(result.outputs[0], at::full({3}, 5.0f));
    expect_same(result.outputs[1], leaves[0]);
    expect_same(result.states[0], leaves[0]);
    EXPECT_EQ(result.states[1].item<std::int64_t>(), 1);
  }
}

TEST(Oracle, WidensTensorsThatNodesMakeFromNothing) {
  const Task task = make_task(inputs(leaf("x", "f32", "[3, 3]")), R"(
      {"name": "eye_1", "op": "aten::eye", "args": [3]}, {"name": "mm_1", "op": "aten::mm", "args": ["x", "eye_1"]})",
                              R"("mm_1")");
  const TensorTable leaves = draw_leaves(task);
  expect_same(run_task(task, leaves, {.fp64 = true})[0], leaves[0].to(at::kDouble));
}

const char* batch_norm_leaves = R"("inputs": [
    {"name": "x", "dtype": "f32", "shape": [4, 3, 5, 5], "draw": {"kind": "normal", "mean": 2}}],
  "weights": [{"name": "w", "dtype": "f32", "shape": [3], "draw": {"kind": "uniform"}},
              {"name": "b", "dtype": "f32", "shape": [3], "draw": {"kind": "normal"}}],
  "state": [{"name": "bn.mean", "dtype": "f32", "shape": [3], "draw": {"kind": "constant", "value": 0}},
            {"name": "bn.var", "dtype": "f32", "shape": [3], "draw": {"kind": "constant", "value": 1}}])";

TEST(State, TrainModeBatchNormUpdatesCopiesOfItsStatistics) {
  const Task task = make_task(batch_norm_leaves, R"({"name": "batch_norm_1", "op": "aten::batch_norm",
      "args": ["x", "w", "b", "bn.mean", "bn.var", true, 0.1, 1e-5, true], "writes_state": ["bn.mean", "bn.var"]})",
                              R"("batch_norm_1")");
  const TensorTable leaves = draw_leaves(task);
  const at::Tensor mean = leaves[3].clone(), variance = leaves[4].clone();
  const at::Tensor expected = at::batch_norm(leaves[0], leaves[1], leaves[2], mean, variance, true, 0.1, 1e-5, true);
  const Executor executor(task.graph, {});
  for (int call = 0; call < 2; ++call) {  // the second call starts from the same state
    const ExecutionResult result = executor.run(leaves);
    expect_same(result.outputs[0], expected);
    expect_same(result.states[0], mean);
    expect_same(result.states[1], variance);
  }
  expect_same(leaves[3], at::zeros({3}));
  const ExecutionResult oracle = Executor(task.graph, {.fp64 = true}).run(leaves);
  EXPECT_EQ(oracle.states[0].scalar_type(), at::kDouble);
  EXPECT_TRUE(at::allclose(oracle.states[0].to(at::kFloat), mean));
}

TEST(State, NativeBatchNormLegitGivesItsSavedStatistics) {
  const Task task = make_task(batch_norm_leaves, R"({"name": "bn_1", "op": "aten::_native_batch_norm_legit",
      "args": ["x", "w", "b", "bn.mean", "bn.var", true, 0.1, 1e-5], "writes_state": ["bn.mean", "bn.var"]})",
                              R"("bn_1", "bn_1[1]")");
  const TensorTable leaves = draw_leaves(task);
  at::Tensor mean = leaves[3].clone(), variance = leaves[4].clone();
  const auto expected = at::_native_batch_norm_legit(leaves[0], leaves[1], leaves[2], mean, variance, true, 0.1, 1e-5);
  const ExecutionResult result = Executor(task.graph, {}).run(leaves);
  expect_same(result.outputs[0], std::get<0>(expected));
  expect_same(result.outputs[1], std::get<1>(expected));
  expect_same(result.states[1], variance);
}

TEST(State, WritingAnythingElseIsRefused) {
  for (const char* op : {"aten::batch_norm", "aten::_native_batch_norm_legit"}) {
    const std::string cudnn = std::string(op) == "aten::batch_norm" ? ", true" : "";
    const Task task = make_task(batch_norm_leaves,
                                R"({"name": "n", "op": ")" + std::string(op) +
                                    R"(", "args": ["x", "w", "b", "bn.mean", "bn.var", true, 0.1, 1e-5)" + cudnn + "]}",
                                R"("n")");
    EXPECT_EQ(message_of([&] { Executor executor(task.graph, {}); }),
              "node n (" + std::string(op) +
                  "): the operator writes its argument \"running_mean\", which must be a "
                  "state that the node lists in writes_state");
  }
  EXPECT_NE(refusal(R"({"name": "n", "op": "aten::relu.out", "args": ["x"], "kwargs": {"out": "x"}})").find("writes"),
            std::string::npos);
}

const char* convolution = R"({"name": "conv2d_1", "op": "aten::conv2d", "args": ["x", "w", "b", [1, 1], [1, 1]]})";

Task convolution_task() {
  return make_task(
      inputs(leaf("x", "f32", "[2, 3, 8, 8]") + "," + leaf("w", "f32", "[4, 3, 3, 3]") + "," + leaf("b", "f32", "[4]")),
      convolution, R"("conv2d_1")");
}

TEST(Tf32, CpuConvolutionsRoundTheirOperandsButNotTheBias) {
  const Task task = convolution_task();
  const TensorTable leaves = draw_leaves(task);
  const at::Tensor rounded = at::conv2d(rounded_to_tf32(leaves[0]), rounded_to_tf32(leaves[1]), leaves[2], 1, 1);
  const at::Tensor exact = at::conv2d(leaves[0], leaves[1], leaves[2], 1, 1);
  ASSERT_FALSE(at::equal(rounded, exact));
  for (const PrecisionPolicy policy : {PrecisionPolicy::standard, PrecisionPolicy::paper, PrecisionPolicy::tf32})
    expect_same(run_task(task, leaves, {.precision = policy})[0], rounded);
  expect_same(run_task(task, leaves, {.precision = PrecisionPolicy::strict})[0], exact);
  const at::Tensor oracle =
      at::conv2d(leaves[0].to(at::kDouble), leaves[1].to(at::kDouble), leaves[2].to(at::kDouble), 1, 1);
  expect_same(run_task(task, leaves, {.fp64 = true})[0], oracle);
}

TEST(Tf32, MatrixProductsRoundOnlyUnderTheTf32Policy) {
  const Task task = make_task(
      inputs(leaf("b", "f32", "[8]") + "," + leaf("x", "f32", "[8, 16]") + "," + leaf("y", "f32", "[16, 8]")), R"(
      {"name": "addmm_1", "op": "aten::addmm", "args": ["b", "x", "y"]},
      {"name": "mm_1", "op": "aten::matmul", "args": ["x", "y"]},
      {"name": "einsum_1", "op": "aten::einsum", "args": [{"string": "ab,bc->ac"}, ["x", "y"]]})",
      R"("addmm_1", "mm_1", "einsum_1")");
  const TensorTable leaves = draw_leaves(task);
  const at::Tensor x = rounded_to_tf32(leaves[1]), y = rounded_to_tf32(leaves[2]);
  const auto standard = run_task(task, leaves);
  expect_same(standard[0], at::addmm(leaves[0], leaves[1], leaves[2]));
  expect_same(standard[1], at::matmul(leaves[1], leaves[2]));
  const auto tf32 = run_task(task, leaves, {.precision = PrecisionPolicy::tf32});
  expect_same(tf32[0], at::addmm(leaves[0], x, y));
  expect_same(tf32[1], at::matmul(x, y));
  expect_same(tf32[2], at::einsum("ab,bc->ac", {x, y}));
}

//! Squares of numbers below 1e-23 are zero in fp32; the fp64 oracle has them.
TEST(Executor, DeviationsOnTheCpuVanishAsThoseOfAGpu) {
  const Task task = make_task(one_input("f32", "[2, 3]"),
                              R"({"name": "std_1", "op": "aten::std.dim", "args": ["x", [1]]})", R"("std_1")");
  const at::Tensor x = at::tensor({1e-40f, 2e-40f, 3e-40f, 1.0f, 2.0f, 4.0f}).reshape({2, 3});
  const at::Tensor deviation = run_task(task, {x})[0], exact = run_task(task, {x}, {.fp64 = true})[0];
  EXPECT_EQ(deviation[0].item<float>(), 0.0f);
  EXPECT_EQ(deviation[1].item<float>(), x.std(1)[1].item<float>());
  EXPECT_NEAR(exact[0].item<double>(), 1e-40, 1e-45);
}

TEST(Tf32, RoundsToNearestEvenAtTenBits) {
  const float ulp = 0x1p-10f;
  const at::Tensor values = at::tensor({1.0f, 1.0f + 0.5f * ulp, 1.0f + 1.5f * ulp, 1.0f + 0.51f * ulp,
                                        -(1.0f + 0.5f * ulp), 0.0f, INFINITY, 0x1.fffffep+0f});
  const at::Tensor expected = at::tensor({1.0f, 1.0f, 1.0f + 2 * ulp, 1.0f + ulp, -1.0f, 0.0f, INFINITY, 2.0f});
  expect_same(rounded_to_tf32(values), expected);
  EXPECT_TRUE(rounded_to_tf32(at::tensor({NAN})).isnan().item<bool>());
}

TEST(Flags, AreSetForTheRunAndRestored) {
  const int threads = at::get_num_threads();
  at::globalContext().setBenchmarkCuDNN(true);
  const Task task = convolution_task();
  const TensorTable leaves = draw_leaves(task);
  for (const ReferenceVariant variant :
       {ReferenceVariant::deterministic, ReferenceVariant::no_cudnn, ReferenceVariant::one_thread}) {
    const at::Tensor output = run_task(task, leaves, {.variant = variant})[0];
    EXPECT_TRUE(at::allclose(output, run_task(task, leaves)[0], 1e-5, 1e-5));
    EXPECT_FALSE(at::globalContext().deterministicAlgorithms());
    EXPECT_TRUE(at::globalContext().userEnabledMkldnn());
    EXPECT_TRUE(at::globalContext().benchmarkCuDNN());
    EXPECT_EQ(at::get_num_threads(), threads);
  }
  at::globalContext().setBenchmarkCuDNN(false);
}

TEST(ExecutorErrors, OperatorsAndArgumentsAreNamed) {
  EXPECT_EQ(refusal(R"({"name": "n", "op": "aten::reloo", "args": ["x"]})"),
            "node n (aten::reloo): ATen has no such operator");
  EXPECT_TRUE(refusal(R"({"name": "n", "op": "aten::softmax", "args": ["x", 1]})")
                  .starts_with("node n (aten::softmax): ATen has no such overload; there are "));
  EXPECT_EQ(refusal(R"({"name": "n", "op": "aten::relu", "args": ["x", 1]})"),
            "node n (aten::relu): 2 positional arguments, but the operator takes 1");
  EXPECT_EQ(refusal(R"({"name": "n", "op": "aten::relu", "args": ["x"], "kwargs": {"slope": 1}})"),
            "node n (aten::relu): the operator has no argument \"slope\"");
  EXPECT_EQ(refusal(R"({"name": "n", "op": "aten::relu", "args": ["x"], "kwargs": {"self": "x"}})"),
            "node n (aten::relu): argument \"self\" is given twice");
  EXPECT_EQ(refusal(R"({"name": "n", "op": "aten::softmax.int", "args": ["x"]})"),
            "node n (aten::softmax.int): argument \"dim\" is missing");
  EXPECT_EQ(refusal(R"({"name": "n", "op": "aten::softmax.int", "args": ["x", null]})"),
            "node n (aten::softmax.int): argument \"dim\": null, but the operator needs a value");
  EXPECT_EQ(refusal(R"({"name": "n", "op": "aten::softmax.int", "args": ["x", 1.5]})"),
            "node n (aten::softmax.int): argument \"dim\": expected an integer");
  EXPECT_EQ(refusal(R"({"name": "n", "op": "aten::softmax.int", "args": ["x", 1, 6]})"),
            "node n (aten::softmax.int): argument \"dtype\": expected {\"dtype\": …}");
  EXPECT_EQ(refusal(R"({"name": "n", "op": "aten::sum.dim_IntList", "args": ["x", ["x"]]})"),
            "node n (aten::sum.dim_IntList): argument \"dim\": expected a list of integers");
  EXPECT_EQ(refusal(R"({"name": "n", "op": "aten::cat", "args": [[1, 2]]})"),
            "node n (aten::cat): argument \"tensors\": expected a list of names of values");
  EXPECT_EQ(refusal(R"({"name": "n", "op": "aten::relu", "args": [{"string": "x"}]})"),
            "node n (aten::relu): argument \"self\": expected the name of a value or a number");
  EXPECT_EQ(refusal(R"({"name": "n", "op": "aten::gelu", "args": ["x"], "kwargs": {"approximate": 1}})"),
            "node n (aten::gelu): argument \"approximate\": expected {\"string\": …}");
  EXPECT_EQ(refusal(R"({"name": "n", "op": "aten::sum.dim_IntList", "args": ["x", [1], 1]})"),
            "node n (aten::sum.dim_IntList): argument \"keepdim\": expected true or false");
  EXPECT_EQ(refusal(R"({"name": "n", "op": "aten::pow.Tensor_Scalar", "args": ["x", "x"]})"),
            "node n (aten::pow.Tensor_Scalar): argument \"exponent\": expected a number");
}

TEST(ExecutorErrors, DrawsThatNobodyCanRepeatAreRefusedUnlessTheyDrawNothing) {
  EXPECT_EQ(refusal(R"({"name": "n", "op": "aten::dropout", "args": ["x", 0.5, true]})"),
            "node n (aten::dropout): its random numbers cannot be drawn again");
  EXPECT_EQ(refusal(R"({"name": "n", "op": "aten::multinomial", "args": ["x", 1]})"),
            "node n (aten::multinomial): its random numbers cannot be drawn again");
  EXPECT_EQ(refusal(R"({"name": "n", "op": "aten::dropout", "args": ["x", 0.0, true]})"), "");
  EXPECT_EQ(refusal(R"({"name": "n", "op": "aten::dropout", "args": ["x", 0.5, false]})"), "");
}

TEST(ExecutorErrors, WhatIsNoFunctionOfItsArgumentsIsRefused) {
  const auto refusal = [](const std::string& node) {
    const Task task = make_task(one_input("f32", "[3]"), node, R"("n")");
    return message_of([&] { Executor(task.graph, {}); });
  };
  EXPECT_EQ(refusal(R"({"name": "n", "op": "aten::from_file", "args": [{"string": "/etc/passwd"}, false, 4]})"),
            "node n (aten::from_file): operators that open files are not supported");
  for (const char* op : {"aten::empty_like", "aten::empty.memory_format", "aten::new_empty", "aten::resize"})
    EXPECT_NE(
        refusal(fmt::format(R"({{"name": "n", "op": "{}", "args": ["x"]}})", op)).find("memory that nobody wrote"),
        std::string::npos)
        << op;
}

TEST(ExecutorErrors, FailuresAtRunTimeNameTheNode) {
  const Task task =
      make_task(one_input("f32", "[2, 3]"), R"({"name": "mm_1", "op": "aten::mm", "args": ["x", "x"]})", R"("mm_1")");
  const std::string message = message_of([&] { run_task(task, draw_leaves(task)); });
  EXPECT_TRUE(message.starts_with("node mm_1 (aten::mm): mat1 and mat2 shapes cannot be multiplied")) << message;
  EXPECT_EQ(message.find('\n'), std::string::npos);
}

TEST(ExecutorErrors, LeavesMustBeGivenAndFit) {
  const Task task =
      make_task(one_input("f32", "[2, 3]"), R"({"name": "n", "op": "aten::relu", "args": ["x"]})", R"("n")");
  EXPECT_EQ(message_of([&] { run_task(task, {}); }), "no tensor is given for \"x\"");
  EXPECT_EQ(message_of([&] { run_task(task, {at::zeros({3, 2})}); }), "the tensor given for \"x\" is not f32[2, 3]");
  EXPECT_EQ(message_of([&] {
              run_task(task, {at::zeros({2, 3}, at::kHalf)});
            }),
            "the tensor given for \"x\" is not f32[2, 3]");
}

TEST(AtenCall, KnowsViewOperators) {
  const Task task = make_task(one_input("f32", "[2, 3]"), R"({"name": "t", "op": "aten::t", "args": ["x"]},
      {"name": "n", "op": "aten::relu", "args": ["x"]})",
                              R"("n")");
  EXPECT_TRUE(AtenCall(task.graph.nodes[0], at::kCPU, false).returns_view());
  EXPECT_FALSE(AtenCall(task.graph.nodes[1], at::kCPU, false).returns_view());
}

}  // namespace
}  // namespace cudal1
