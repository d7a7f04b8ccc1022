// `hoist`: nodes that the planner moves from the call to what runs when weights change.
#include <gtest/gtest.h>

#include "program/plan.hpp"
#include "sample_graphs.hpp"

namespace cudal1 {
namespace {

//! w -> exp_1 -> scale_1 (a group may replace both); mul_1 = x · scale_1, the output; rand_1 draws.
OpGraph scaled() {
  sample::GraphBuilder builder;
  const ValueId x = builder.leaf(ValueKind::input, "x", {32});
  const ValueId w = builder.leaf(ValueKind::weight, "w", {32});
  const ValueId exp = builder.node("exp_1", "aten::exp", {w}, {32});
  const ValueId scale = builder.node("scale_1", "aten::neg", {exp}, {32});
  builder.node("rand_1", "aten::rand_like", {w}, {32});
  builder.output(builder.node("mul_1", "aten::mul.Tensor", {x, scale}, {32}));
  return builder.graph;
}

std::string failure_of(const std::string& text) {
  const Result<Plan> result = make_plan(scaled(), text);
  return result.ok() ? "" : result.failure().message;
}

const Buffer& buffer_of(const Plan& plan, const std::string& value) {
  return plan.buffers.at(plan.values.at(scaled().find_value(value)).buffer);
}

TEST(HoistedNodes, RunWhenWeightsChange) {
  const Plan plan = make_plan(scaled(), "//! hoist exp_1 scale_1\n").value();
  ASSERT_EQ(plan.prepare.size(), 2u);
  EXPECT_EQ(std::get<OpStep>(plan.prepare[0]).node.name, "exp_1");
  EXPECT_EQ(plan.call.size(), 2u);
  EXPECT_EQ(buffer_of(plan, "scale_1").role, BufferRole::prepared);
  EXPECT_FALSE(buffer_of(plan, "scale_1").allocated_by_op);
  EXPECT_NE(plan.hash, make_plan(scaled(), "").value().hash);
}

TEST(HoistedNodes, MayBeAGroupWithItsBuffers) {
  const Plan plan = make_plan(scaled(),
                              "//! buffer tmp f32 [32] zero\n"
                              "//! kernel k replaces exp_1 scale_1 : grid=1 block=32 args=(w, tmp, scale_1)\n"
                              "//! hoist exp_1 scale_1\n"
                              "__global__ void k(const float* w, float* t, float* y) {}\n")
                        .value();
  ASSERT_EQ(plan.prepare.size(), 2u);
  EXPECT_TRUE(std::holds_alternative<ZeroStep>(plan.prepare[0]));
  EXPECT_EQ(std::get<LaunchStep>(plan.prepare[1]).kernel, "k");
  EXPECT_EQ(buffer_of(plan, "scale_1").role, BufferRole::prepared);
  EXPECT_EQ(plan.kernels, std::vector<std::string>{"k"});
}

TEST(HoistedNodes, MakeAPlanNeedTheLibrary) {
  const Plan plan = make_plan(scaled(),
                              "//! kernel k replaces mul_1 rand_1 : grid=1 block=32 args=(x, scale_1, mul_1)\n"
                              "//! hoist exp_1 scale_1\n"
                              "__global__ void k(const float* x, const float* s, float* y) {}\n")
                        .value();
  EXPECT_EQ(plan.call.size(), 1u);
  EXPECT_TRUE(plan.has_op_steps());
}

TEST(HoistedNodes, AreRefusedWhereACallIsNeeded) {
  EXPECT_NE(failure_of("//! hoist mul_1\n").find("every call must return its result"), std::string::npos);
  EXPECT_NE(failure_of("//! hoist scale_1\n").find("it reads 'exp_1', which is computed by a node"), std::string::npos);
  EXPECT_NE(failure_of("//! hoist rand_1\n").find("draws random numbers"), std::string::npos);
  EXPECT_NE(failure_of("//! hoist exp_1 : now\n").find("expected the end"), std::string::npos);
  const std::string kernel = "\n__global__ void k(const float* w, float* y) {}\n";
  const std::string group = "//! kernel k replaces exp_1 scale_1 : grid=1 block=32 args=";
  EXPECT_NE(failure_of(group + "(w, scale_1)\n//! hoist exp_1" + kernel).find("hoisted and others that are not"),
            std::string::npos);
  EXPECT_NE(failure_of(group + "(x, scale_1)\n//! hoist exp_1 scale_1" + kernel).find("only weights may reach it"),
            std::string::npos);
}

}  // namespace
}  // namespace cudal1
