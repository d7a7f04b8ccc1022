#include "judge/nominal_host.hpp"

#include <gtest/gtest.h>

namespace cudal1 {
namespace {

constexpr NominalHost host{.launch_ms = 1.0, .op_ms = 10.0, .graph_ms = 100.0, .patch_ms = 0.5};

//! x -> library -> h -> kernel -> y
Plan plan_of_two_steps() {
  Plan plan;
  const TensorMeta meta{DType::f32, {8}, {1}};
  plan.buffers = {{"x", BufferRole::input, meta, false, false},
                  {"h", BufferRole::intermediate, meta, true, false},
                  {"y", BufferRole::output, meta, false, false}};
  plan.values = {{0, 0, meta}, {1, 0, meta}, {2, 0, meta}};
  OpStep op;
  op.node.args = {ValueRef{0}};
  op.node.outputs = {1};
  plan.call = {op, LaunchStep{}, ZeroStep{2}};
  plan.outputs = {2};
  return plan;
}

TEST(NominalHost, CountsEveryStepThatIsEnqueued) {
  EXPECT_DOUBLE_EQ(nominal_enqueue_ms(plan_of_two_steps(), host), 12.0);
}

TEST(NominalHost, AGraphCostsOneLaunchItsPatchesAndTheCopiesOfItsLibrarySteps) {
  Plan plan = plan_of_two_steps();
  plan.cuda_graph = true;
  EXPECT_DOUBLE_EQ(nominal_enqueue_ms(plan, host), 101.5);  // x is copied in; y is the kernel's
  plan.call.erase(plan.call.begin());
  EXPECT_DOUBLE_EQ(nominal_enqueue_ms(plan, host), 100.5);
}

CallTimes call_with(Gate gate) {
  CallTimes call;
  call.device_ms = 0.020;
  call.enqueue_ms = 5.0;  // whatever the machine was busy with
  call.gate = gate;
  return call;
}

TEST(Cost, IsWhatTheSlowerOfHostAndDeviceTakes) {
  EXPECT_DOUBLE_EQ(cost_ms(call_with(Gate::held), 0.010), 0.020);
  EXPECT_DOUBLE_EQ(cost_ms(call_with(Gate::held), 0.030), 0.030);
}

TEST(Cost, IsTheDevicesTimeWhereThatHoldsTheHosts) { EXPECT_DOUBLE_EQ(cost_ms(call_with(Gate::unused), 0.030), 0.020); }

}  // namespace
}  // namespace cudal1
