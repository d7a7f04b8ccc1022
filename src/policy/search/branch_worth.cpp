#include "policy/search/branch_worth.hpp"

#include "device/vgpu/model/branch_time.hpp"
#include "device/vgpu/model/op_model.hpp"
#include "program/step_branches.hpp"

namespace cudal1 {
namespace {

constexpr double long_ms = 0.002;          // of work, beyond launching
constexpr double noticeable_share = 0.02;  // of a call

struct StepEstimate {
  vgpu::StepCost cost;
  double working_ms = 0.0;
};

std::vector<TensorMeta> metas_of(const Plan& plan, const std::vector<ValueId>& values) {
  std::vector<TensorMeta> metas;
  for (const ValueId id : values) metas.push_back(plan.values[static_cast<std::size_t>(id)].meta);
  return metas;
}

StepEstimate estimate_of(const vgpu::GpuProfile& gpu, const Plan& plan, const OpStep& step) {
  const auto inputs = metas_of(plan, OpGraph::reads(step.node)), outputs = metas_of(plan, step.node.outputs);
  const auto estimate = vgpu::estimate_op(gpu, vgpu::built_in_op_table(), step.node, inputs, outputs);
  return {vgpu::cost_of(vgpu::report_of_op(step.node.name, gpu, estimate), gpu),
          estimate.milliseconds - estimate.launch_milliseconds};
}

//! As if it did nothing but move what it touches.
StepEstimate estimate_of_bytes(const vgpu::GpuProfile& gpu, const Plan& plan, const Step& step) {
  double bytes = 0.0;
  for (const int buffer : buffers_of(plan, step))
    bytes += static_cast<double>(plan.buffers[static_cast<std::size_t>(buffer)].meta.span_bytes());
  const double moving = bytes / gpu.dram_achievable_bytes_per_second() * 1e3;
  return {{moving + gpu.costs.graph_launch_us / 1e3, moving}, moving};
}

bool long_steps_meet(const Plan& plan, const std::vector<StepEstimate>& steps) {
  const StepOrder order(plan);
  for (std::size_t later = 0; later < steps.size(); ++later)
    for (std::size_t earlier = 0; earlier < later; ++earlier)
      if (steps[earlier].working_ms >= long_ms && steps[later].working_ms >= long_ms &&
          !order.is_before(earlier, later))
        return true;
  return false;
}

}  // namespace

bool is_worth_branches(const vgpu::GpuProfile& gpu, const Plan& plan) {
  if (plan.branches.empty()) return false;
  std::vector<StepEstimate> steps;
  std::vector<vgpu::StepCost> costs;
  double one_by_one = 0.0;
  for (const Step& step : plan.call) {
    const auto* op = std::get_if<OpStep>(&step);
    steps.push_back(op ? estimate_of(gpu, plan, *op) : estimate_of_bytes(gpu, plan, step));
    costs.push_back(steps.back().cost);
    one_by_one += costs.back().milliseconds;
  }
  return long_steps_meet(plan, steps) &&
         vgpu::branched_ms(plan.branches, costs) <= (1.0 - noticeable_share) * one_by_one;
}

}  // namespace cudal1
