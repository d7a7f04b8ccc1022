// Programs around nodes that draw: those stay with the library, the arithmetic around them need not.
#include <gtest/gtest.h>

#include "technique_harness.hpp"

namespace cudal1::testing {
namespace {

using nlohmann::json;

class RandomNodes : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_device(); !why.empty()) GTEST_SKIP() << why;
  }
};

const json f32{{"kwargs", {{"dtype", {{"dtype", "f32"}, {"compute", true}}}}}};

//! x * bernoulli(sigmoid(1.5 x)), as the bridge writes it.
TaskText bernoulli_task() {
  TaskText task;
  task.input("x", {37, 41}).node("mul_1", "aten::mul.Scalar", {"x", 1.5});
  task.node("sigmoid_1", "aten::sigmoid", {"mul_1"}).node("rand_1", "aten::rand", {{37, 41}}, f32);
  task.node("lt_1", "aten::lt.Tensor", {"rand_1", "sigmoid_1"});
  task.node("to_1", "aten::to.dtype", {"lt_1", {{"dtype", "f32"}, {"compute", true}}});
  return task.node("mul_2", "aten::mul.Tensor", {"x", "to_1"}).output("mul_2");
}

TEST_F(RandomNodes, ComparisonsWithDrawsAreFused) {
  const Verdict verdict = judged(bernoulli_task(), "//! fuse mul_1 sigmoid_1 lt_1 to_1 mul_2\n");
  EXPECT_EQ(verdict.status, "ok") << verdict.message;
  ASSERT_EQ(verdict.steps.size(), 2u);
  EXPECT_EQ(verdict.steps[0], "op rand_1");
}

TEST_F(RandomNodes, RandomisedLeaksAreFused) {
  TaskText task;
  task.input("x", {37, 41}).node("rand_1", "aten::rand", {{37, 41}}, f32);
  task.node("mul_1", "aten::mul.Scalar", {"rand_1", 0.2}).node("add_1", "aten::add.Scalar", {"mul_1", 0.125});
  task.node("mul_2", "aten::mul.Tensor", {"x", "add_1"}).node("gt_1", "aten::gt.Scalar", {"x", 0});
  task.node("where_1", "aten::where.self", {"gt_1", "x", "mul_2"}).output("where_1");
  EXPECT_RIGHT(task, "//! fuse mul_1 add_1 mul_2 gt_1 where_1\n");
}

TEST_F(RandomNodes, WhatIsBeforeAndBehindDropoutIsFused) {
  TaskText task;
  task.input("x", {8, 33}).node("softmax_1", "aten::softmax.int", {"x", -1});
  task.node("native_dropout_1", "aten::native_dropout", {"softmax_1", 0.1, true});
  task.node("mul_1", "aten::mul.Scalar", {"native_dropout_1", 3.0});
  task.node("add_1", "aten::add.Tensor", {"mul_1", "x"}).output("add_1");
  EXPECT_RIGHT(task, "//! fuse mul_1 add_1\n");
}

TEST_F(RandomNodes, NumbersOfItsOwnAreWrong) {
  const Verdict verdict = judged(bernoulli_task(), R"(//! kernel draw replaces rand_1 : grid=1 block=256 args=(rand_1)
__global__ void draw(float* drawn) {
  for (int i = threadIdx.x; i < 37 * 41; i += 256) drawn[i] = i * 7919 % 1024 / 1024.0f;
}
)");
  EXPECT_EQ(verdict.status, "wrong_result") << verdict.message;
}

TEST_F(RandomNodes, AreDrawnInEveryCallAndNotTogether) {
  TaskText task;
  task.input("x", {8}).node("rand_1", "aten::rand", {{8}}, f32).node("rand_2", "aten::rand", {{8}}, f32);
  task.node("sub_1", "aten::sub.Tensor", {"rand_1", "rand_2"}).node("add_1", "aten::add.Tensor", {"x", "sub_1"});
  task.output("add_1");
  EXPECT_REFUSED(task, "//! share rand_1 rand_2\n", "draws random numbers of its own");
  EXPECT_REFUSED(task, "//! hoist rand_1\n", "draws random numbers");
  EXPECT_REFUSED(task, "//! graph\n", "draws random numbers");
}

}  // namespace
}  // namespace cudal1::testing
