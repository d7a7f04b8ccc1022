// `graph : branches=N`: right results although steps run side by side. The same cases run on a GPU, where slow kernels
// make sure that a step which did not wait would be seen.
#include <gtest/gtest.h>

#include "technique_harness.hpp"

namespace cudal1::testing {
namespace {

class GraphBranches : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_device(); !why.empty()) GTEST_SKIP() << why;
  }
};

//! Long enough for the other branch to be through with everything. Its result is added as `zero`, so that no compiler
//! may leave it out.
const std::string idle = R"(
__device__ float after_a_while(float start) {
  float value = fabsf(start) < 1e30f ? 1.0f : 0.5f;
  for (int i = 0; i < 20000; ++i) value = value * 0.5f + 0.5f;  // stays 1
  return value - 1.0f;
}
)";

//! Two chains from x that meet: relu, neg on the left, exp of tanh on the right.
TaskText two_sides(std::int64_t rows = 3, std::int64_t columns = 67) {
  TaskText task;
  task.input("x", {rows, columns});
  task.node("relu_1", "aten::relu", {"x"}).node("neg_1", "aten::neg", {"relu_1"});
  task.node("tanh_1", "aten::tanh", {"x"}).node("exp_1", "aten::exp", {"tanh_1"});
  task.node("add_1", "aten::add.Tensor", {"neg_1", "exp_1"}).output("add_1");
  return task;
}

//! Matrix products, norms and pointwise nodes of the library on two sides, all of one size: memory that one side frees
//! is just what the other would ask for.
TaskText library_on_two_sides(std::int64_t n) {
  TaskText task;
  task.input("x", {n, n}).weight("w", {n, n}).weight("v", {n, n}).weight("g", {n});
  std::string left = "x", right = "x";
  for (int i = 1; i <= 4; ++i) {
    const auto name = [&](const char* op) { return op + std::to_string(i); };
    task.node(name("mm_"), "aten::mm", {left, "w"}).node(name("tanh_"), "aten::tanh", {name("mm_")});
    task.node(name("softmax_"), "aten::softmax.int", {right, -1});
    task.node(name("mul_"), "aten::mul.Tensor", {name("softmax_"), "g"});
    task.node(name("sub_"), "aten::sub.Tensor", {name("mul_"), "v"});
    left = name("tanh_");
    right = name("sub_");
  }
  return task.node("add_9", "aten::add.Tensor", {left, right}).output("add_9");
}

TEST_F(GraphBranches, RunsChainsOfTheLibrary) {
  EXPECT_RIGHT(two_sides(), "//! graph : branches=2\n");
  for (const int branches : {2, 3, 8})
    EXPECT_RIGHT(library_on_two_sides(33), "//! graph : branches=" + std::to_string(branches) + "\n");
}

TEST_F(GraphBranches, RunsWhatTheWriterFuses) {
  EXPECT_RIGHT(two_sides(), "//! fuse relu_1 neg_1\n//! fuse tanh_1 exp_1\n//! fuse add_1\n//! graph : branches=2\n");
  EXPECT_RIGHT(two_sides(1, 1), "//! fuse relu_1 neg_1\n//! fuse tanh_1 exp_1\n//! graph : branches=2\n");
  EXPECT_RIGHT(library_on_two_sides(17),
               "//! fuse mul_1 sub_1\n//! fuse mul_2 sub_2\n//! fuse softmax_3 mul_3 sub_3\n//! graph : branches=4\n");
  EXPECT_REFUSED(two_sides(), "//! fuse *\n//! graph : branches=2\n", "no two steps of this call are independent");
}

//! The left side is slow and the node where both meet is not.
TEST_F(GraphBranches, WaitWhereTheyMeet) {
  EXPECT_RIGHT(two_sides(), idle +
                                R"(__global__ void left(const float* x, float* y, int n) {
  const float zero = after_a_while(x[0]);
  for (int i = threadIdx.x; i < n; i += 256) y[i] = -fmaxf(x[i], 0.0f) + zero;
}
//! kernel left replaces relu_1 neg_1 : grid=1 block=256 args=(x, neg_1, i32:numel(x))
//! graph : branches=2
)");
}

//! A slow kernel reads what a library step made, long after everything else that could get this memory was started.
TEST_F(GraphBranches, KeepMemoryThatASlowStepReads) {
  TaskText task = library_on_two_sides(64);
  EXPECT_RIGHT(task, idle + R"(__global__ void slow(const float* x, float* y, int n) {
  const float zero = after_a_while(x[0]);
  for (int i = threadIdx.x; i < n; i += 256) y[i] = tanhf(x[i]) + zero;
}
//! kernel slow replaces tanh_2 : grid=1 block=256 args=(mm_2, tanh_2, i32:numel(mm_2))
//! graph : branches=2
)");
}

//! Both sides want the same scratch memory: the second must wait until the first has read it.
TEST_F(GraphBranches, TakeTurnsWithScratchMemory) {
  TaskText task = two_sides();
  task.node("sigmoid_1", "aten::sigmoid", {"x"}).output("sigmoid_1");
  EXPECT_RIGHT(task, idle + R"(__global__ void fill(const float* x, float* scratch, float sign, int n) {
  for (int i = threadIdx.x; i < n; i += 256) scratch[i] = sign * x[i];
}
__global__ void left(const float* scratch, float* y, int n) {
  const float zero = after_a_while(scratch[0]);
  for (int i = threadIdx.x; i < n; i += 256) y[i] = fminf(scratch[i], 0.0f) + zero;
}
__global__ void right(const float* scratch, float* y, int n) {
  for (int i = threadIdx.x; i < n; i += 256) y[i] = expf(tanhf(scratch[i]));
}
//! buffer scratch f32 [numel(x)]
//! group on_the_left replaces relu_1 neg_1
//! launch fill : grid=1 block=256 args=(x, scratch, f32:-1, i32:numel(x))
//! launch left : grid=1 block=256 args=(scratch, neg_1, i32:numel(x))
//! group on_the_right replaces tanh_1 exp_1
//! launch fill : grid=1 block=256 args=(x, scratch, f32:1, i32:numel(x))
//! launch right : grid=1 block=256 args=(scratch, exp_1, i32:numel(x))
//! graph : branches=2
)");
}

//! A sum into a zeroed buffer, beside a step that has nothing to do with it.
TEST_F(GraphBranches, ZeroBeforeTheyAdd) {
  EXPECT_RIGHT(two_sides(), R"(__global__ void left(const float* x, float* sums, float* y, int n) {
  for (int i = threadIdx.x; i < n; i += 256) {
    atomicAdd(&sums[i], fmaxf(x[i], 0.0f));
    y[i] = -sums[i];
  }
}
//! buffer sums f32 [numel(x)] zero
//! kernel left replaces relu_1 neg_1 : grid=1 block=256 args=(x, sums, neg_1, i32:numel(x))
//! graph : branches=2
)");
}

//! The mean is read before training's batch norm updates it, and again after that.
TEST_F(GraphBranches, KeepTheOrderOfState) {
  TaskText task;
  task.input("x", {4, 3, 5});
  task.state("mean", {3}).state("var", {3}, {{"draw", {{"kind", "uniform"}, {"low", 0.5}, {"high", 2.0}}}});
  task.node("mul_1", "aten::mul.Tensor", {"mean", "mean"});
  task.node("batch_norm_1", "aten::batch_norm", {"x", nullptr, nullptr, "mean", "var", true, 0.1, 1e-5, true},
            {{"writes_state", {"mean", "var"}}});
  task.node("exp_1", "aten::exp", {"mean"}).node("tanh_1", "aten::tanh", {"x"});
  task.output("mul_1").output("batch_norm_1").output("exp_1").output("tanh_1");
  EXPECT_RIGHT(task, "//! graph : branches=3\n");
}

//! Whoever promises const and writes nevertheless is found out on the virtual GPU, which runs branches in another order
//! than the plan's.
TEST_F(GraphBranches, FindOutWhoWritesToConst) {
  const std::string program = R"(__global__ void left(const float* x, float* y, const float* hint, int n) {
  for (int i = threadIdx.x; i < n; i += 256) {
    const_cast<float*>(hint)[i] = 0.0f;
    y[i] = -fmaxf(x[i], 0.0f);
  }
}
__global__ void right(const float* x, float* y, const float* hint, int n) {
  for (int i = threadIdx.x; i < n; i += 256) y[i] = expf(tanhf(x[i])) + hint[i];
}
//! buffer hint f32 [numel(x)]
//! kernel left replaces relu_1 neg_1 : grid=1 block=256 args=(x, neg_1, hint, i32:numel(x))
//! kernel right replaces tanh_1 exp_1 : grid=1 block=256 args=(x, exp_1, hint, i32:numel(x))
)";
  EXPECT_RIGHT(two_sides(), program + "//! graph\n");
  if (is_on_gpu()) return;  // there the two may happen to run in the order that is right
  EXPECT_NE(judged(two_sides(), program + "//! graph : branches=2\n").status, "ok");
}

}  // namespace
}  // namespace cudal1::testing
