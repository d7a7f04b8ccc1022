// Library steps that may put their result in the place of an argument do, and no others.
#include "device/ops/op_steps.hpp"

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "graph/executor.hpp"

namespace cudal1 {
namespace {

//! y = what these nodes make of x, of 4 x 6 numbers.
class OpStepsTest : public ::testing::Test {
 protected:
  void make(const std::string& nodes, const std::string& outputs, const std::string& program = "") {
    Task task = parse_task(
        fmt::format(R"({{"format": "cudal1.graph", "version": 1, "name": "t", "inputs": [{{"name": "x", "dtype": "f32",
          "shape": [4, 6], "draw": {{"kind": "normal", "mean": 0, "std": 1}}}}],
          "nodes": [{}], "outputs": [{}]}})",
                    nodes, outputs),
        {});
    infer_metas(task);
    for (const std::string& name : hidden_views_) task.graph.values[task.graph.find_value(name)].view.reset();
    auto made = make_plan(task.graph, program);
    ASSERT_TRUE(made) << made.failure().message;
    plan_ = std::move(made).value();
    graph_ = task.graph;
    steps_.emplace(plan_, at::Device(at::kCPU), RandomNumbers::of_the_task);
    values_ = steps_->no_values();
    x_ = at::randn({4, 6});
    for (const std::size_t id : steps_->values_from_outside()) values_.tensors[id] = x_;
  }

  //! Runs the steps up to this value's and returns it.
  at::Tensor run_to(const std::string& name) {
    for (; done_ < plan_.call.size(); ++done_) {
      steps_->run(done_, values_);
      const Node& node = std::get<OpStep>(plan_.call[done_]).node;
      if (node.name == name) break;
    }
    ++done_;
    return values_.tensors[static_cast<std::size_t>(graph_.find_value(name))];
  }

  const void* address_of(const std::string& name) { return run_to(name).const_data_ptr(); }

  Plan plan_;
  OpGraph graph_;
  std::optional<OpSteps> steps_;
  OpValues values_;
  at::Tensor x_;
  std::size_t done_ = 0;
  std::vector<std::string> hidden_views_;  // that the graph does not know to be any
};

std::string node(const std::string& name, const std::string& op, const std::string& arguments) {
  return fmt::format(R"({{"name": "{}", "op": "aten::{}", "args": [{}]}})", name, op, arguments);
}

TEST_F(OpStepsTest, AChainStaysInOnePlace) {
  make(node("exp_1", "exp", R"("x")") + "," + node("relu_1", "relu", R"("exp_1")") + "," +
           node("add_1", "add.Tensor", R"("relu_1", "x")") + "," + node("mul_1", "mul.Scalar", R"("add_1", 2.0)") +
           "," + node("gelu_1", "gelu", R"("mul_1")") + "," + node("clamp_1", "clamp", R"("gelu_1", 0.0, 3.0)"),
       R"("clamp_1")");
  const at::Tensor before = x_.clone();
  const void* first = address_of("exp_1");
  EXPECT_NE(first, x_.const_data_ptr()) << "inputs are the caller's";
  for (const char* name : {"relu_1", "add_1", "mul_1", "gelu_1"}) EXPECT_EQ(address_of(name), first) << name;
  const at::Tensor result = run_to("clamp_1");
  EXPECT_EQ(result.const_data_ptr(), first);
  EXPECT_TRUE(result.equal(at::gelu((x_.exp().relu() + x_) * 2.0).clamp(0.0, 3.0)));
  EXPECT_TRUE(x_.equal(before));
}

TEST_F(OpStepsTest, AnyPointwiseOperatorIsDoneInPlace) {
  const std::map<std::string, std::string> with_arguments{
      {"add.Scalar", ", 1.0"}, {"sub.Scalar", ", 1.0"},    {"sub.Tensor", R"(, "x")"},   {"div.Tensor", R"(, "x")"},
      {"div.Scalar", ", 2.0"}, {"clamp_max", ", 1.0"},     {"clamp_min", ", 1.0"},       {"elu", ", 1.0"},
      {"leaky_relu", ", 0.1"}, {"hardtanh", ", 0.0, 1.0"}, {"clamp.Tensor", R"(, "x")"}, {"mul.Tensor", R"(, "x")"}};
  std::map<std::string, std::string> operators = with_arguments;
  for (const char* op : {"abs",         "ceil",      "cos",     "erf",   "exp",  "expm1", "floor",      "gelu",
                         "hardsigmoid", "hardswish", "log",     "log1p", "mish", "neg",   "reciprocal", "relu",
                         "round",       "rsqrt",     "sigmoid", "silu",  "sin",  "sqrt",  "tanh"})
    operators[op] = "";
  for (const auto& [op, arguments] : operators) {
    done_ = 0;
    make(node("exp_1", "exp", R"("x")") + "," + node("last", op, R"("exp_1")" + arguments), R"("last")");
    const void* first = address_of("exp_1");
    EXPECT_EQ(address_of("last"), first) << op;
  }
}

TEST_F(OpStepsTest, WhatIsReadAgainStays) {
  make(node("exp_1", "exp", R"("x")") + "," + node("neg_1", "neg", R"("exp_1")") + "," +
           node("mul_1", "mul.Tensor", R"("neg_1", "exp_1")") + "," +
           node("mul_2", "mul.Tensor", R"("mul_1", "mul_1")"),
       R"("mul_2")");
  const void* first = address_of("exp_1");
  const void* second = address_of("neg_1");
  EXPECT_NE(second, first);
  EXPECT_EQ(address_of("mul_1"), second);
  const at::Tensor result = run_to("mul_2");
  EXPECT_TRUE(result.equal((x_.exp().neg() * x_.exp()).square()));
}

TEST_F(OpStepsTest, OutputsStay) {
  make(node("exp_1", "exp", R"("x")") + "," + node("neg_1", "neg", R"("exp_1")"), R"("exp_1", "neg_1")");
  const at::Tensor first = run_to("exp_1"), second = run_to("neg_1");
  EXPECT_TRUE(first.equal(x_.exp()));
  EXPECT_TRUE(second.equal(-x_.exp()));
}

TEST_F(OpStepsTest, WhatALibraryStepPassesOnIsNotOurs) {
  make(node("contiguous_1", "contiguous", R"("x")") + "," + node("relu_1", "relu", R"("contiguous_1")"), R"("relu_1")");
  const at::Tensor before = x_.clone();
  EXPECT_TRUE(run_to("relu_1").equal(before.relu()));
  EXPECT_TRUE(x_.equal(before));
}

TEST_F(OpStepsTest, AViewOfWhatGoesOnIsNotWrittenTo) {
  make(node("exp_1", "exp", R"("x")") + "," + node("transpose_1", "transpose.int", R"("exp_1", 0, 1)") + "," +
           node("neg_1", "neg", R"("transpose_1")") + "," + node("add_1", "add.Tensor", R"("exp_1", 1.0)"),
       R"("neg_1", "add_1")");
  const at::Tensor negative = run_to("neg_1"), sum = run_to("add_1");
  EXPECT_TRUE(negative.equal(-x_.exp().t()));
  EXPECT_TRUE(sum.equal(x_.exp() + 1.0));
}

//! exp_1 is read on both sides; floor_1 comes last in the plan, but nothing says that sin_1 was first.
const std::string two_sides = node("exp_1", "exp", R"("x")") + "," + node("sin_1", "sin", R"("exp_1")") + "," +
                              node("cos_1", "cos", R"("sin_1")") + "," + node("floor_1", "floor", R"("exp_1")") + "," +
                              node("add_1", "add.Tensor", R"("cos_1", "floor_1")");

TEST_F(OpStepsTest, WhatAnotherBranchMayStillReadIsNotWrittenTo) {
  make(two_sides, R"("add_1")");
  const void* first = address_of("exp_1");
  EXPECT_EQ(address_of("floor_1"), first) << "one after the other it is in place";
  done_ = 0;
  make(two_sides, R"("add_1")", "//! graph : branches=2\n");
  const at::Tensor exponential = run_to("exp_1");
  EXPECT_NE(address_of("floor_1"), exponential.const_data_ptr());
  EXPECT_TRUE(exponential.equal(x_.exp()));
  EXPECT_TRUE(run_to("add_1").equal(x_.exp().sin().cos() + x_.exp().floor()));
}

TEST_F(OpStepsTest, ABranchWritesInPlaceWhatIsItsOwn) {
  make(two_sides, R"("add_1")", "//! graph : branches=2\n");
  const void* first = address_of("sin_1");
  EXPECT_EQ(address_of("cos_1"), first);
}

//! By the steps of a chain beside another one: what the chain made and nobody else reads.
TEST_F(OpStepsTest, BranchesFreeWhatIsTheirsWhenAllWhoReadItAreDone) {
  make(node("exp_1", "exp", R"("x")") + "," + node("sum_1", "cumsum", R"("exp_1", 0)") + "," +
           node("sum_2", "cumsum", R"("exp_1", 1)") + "," + node("sum_3", "cumsum", R"("sum_1", 1)") + "," +
           node("sum_4", "cumsum", R"("sum_2", 0)") + "," + node("sum_5", "cumsum", R"("sum_3", 0)") + "," +
           node("add_1", "add.Tensor", R"("sum_4", "sum_5")") + "," + node("sum_6", "cumsum", R"("add_1", 0)"),
       R"("sum_6")", "//! graph : branches=2\n");
  const auto is_there = [&](const char* name) {
    return values_.tensors[static_cast<std::size_t>(graph_.find_value(name))].defined();
  };
  run_to("sum_5");
  EXPECT_TRUE(is_there("exp_1")) << "the other branch may read it still";
  EXPECT_FALSE(is_there("sum_1")) << "sum_3 has read it, on the same branch";
  run_to("add_1");
  run_to("sum_6");
  EXPECT_FALSE(is_there("exp_1"));
}

TEST_F(OpStepsTest, OnBranchesWhatALibraryStepPassesOnIsCopied) {
  hidden_views_ = {"contiguous_1"};
  make(node("contiguous_1", "contiguous", R"("x")") + "," + node("exp_1", "exp", R"("x")") + "," +
           node("add_1", "add.Tensor", R"("contiguous_1", "exp_1")"),
       R"("add_1")", "//! graph : branches=2\n");
  EXPECT_NE(address_of("contiguous_1"), x_.const_data_ptr());
}

TEST_F(OpStepsTest, AResultOfAnotherSizeHasAPlaceOfItsOwn) {
  make(node("sum_1", "sum.dim_IntList", R"("x", [0], true)") + "," + node("add_1", "add.Tensor", R"("sum_1", "x")"),
       R"("add_1")");
  EXPECT_TRUE(run_to("add_1").equal(x_.sum(0, true) + x_));
}

}  // namespace
}  // namespace cudal1
