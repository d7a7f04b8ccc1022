#include "device/vgpu/call_predictor.hpp"

#include <fmt/format.h>

#include "device/vgpu/launch_limits.hpp"
#include "program/step_branches.hpp"

namespace cudal1::vgpu {

CallPredictor::CallPredictor(const GpuProfile& gpu, const Plan& plan) : gpu_(gpu), plan_(plan), l2_(gpu) {
  report_.gpu = gpu.name;
  report_.call_ms = gpu.costs.call_us / 1e3;
}

ProfileReport CallPredictor::report() const {
  ProfileReport sorted = report_;
  if (!plan_.branches.empty()) {
    const double overlapping = branched_ms(plan_.branches, costs_);
    sorted.saved_ms = sorted.total_ms() - sorted.call_ms - overlapping;
    sorted.notes.push_back(fmt::format("steps run side by side on {} branches, which saves {:.4f} ms",
                                       branch_count(plan_), sorted.saved_ms));
  }
  sorted.sort();
  return sorted;
}

std::vector<TensorMeta> CallPredictor::metas_of(const std::vector<ValueId>& values) const {
  std::vector<TensorMeta> metas;
  for (const ValueId id : values) metas.push_back(plan_.values[static_cast<std::size_t>(id)].meta);
  return metas;
}

double CallPredictor::bytes_of(const std::vector<int>& buffers) const {
  double bytes = 0.0;
  for (const int buffer : buffers)
    bytes += static_cast<double>(plan_.buffers[static_cast<std::size_t>(buffer)].meta.span_bytes());
  return bytes;
}

double CallPredictor::cached(const std::vector<int>& buffers) const {
  double bytes = 0.0;
  for (const int buffer : buffers) bytes += l2_.cached(plan_.buffers[static_cast<std::size_t>(buffer)].name);
  return bytes;
}

void CallPredictor::use(const std::vector<int>& buffers) {
  for (const int buffer : buffers) l2_.use(plan_.buffers[static_cast<std::size_t>(buffer)].name, bytes_of({buffer}));
}

void CallPredictor::add_launch(const LaunchStep& step, const LoadedKernel& kernel, const KernelCounters& counters) {
  const std::vector<int> buffers = buffers_of(plan_, step);
  KernelShape shape;
  shape.grid = index_of(step.grid);
  shape.block = index_of(step.block);
  shape.shared_bytes = kernel.kernel.static_shared_bytes + static_cast<std::uint64_t>(step.shared_bytes);
  shape.local_bytes = kernel.kernel.local_bytes;
  shape.in_graph = plan_.cuda_graph;
  shape.traits = kernel.traits;
  shape.cached_bytes = static_cast<std::uint64_t>(cached(buffers));
  shape.buffer_bytes = static_cast<std::uint64_t>(bytes_of(buffers));
  const KernelPrediction prediction = predict(gpu_, shape, counters);
  add(report_of_kernel(step.kernel, step.at.line, gpu_, shape, counters, prediction), buffers);
}

void CallPredictor::add(const KernelReport& row, const std::vector<int>& buffers) {
  report_.add(row);
  costs_.push_back(cost_of(row, gpu_));
  use(buffers);
}

void CallPredictor::add_op(const OpStep& step) {
  const std::vector<int> buffers = buffers_of(plan_, step);
  const OpEstimate estimate = estimate_op(gpu_, built_in_op_table(), step.node, metas_of(OpGraph::reads(step.node)),
                                          metas_of(step.node.outputs), cached(buffers));
  if (estimate.work.op_class == "view")
    costs_.emplace_back();
  else
    add(report_of_op(step.node.name, gpu_, estimate), buffers);
}

//! A kernel of the driver's that writes as fast as memory takes it.
void CallPredictor::add_zero(const ZeroStep& step) {
  const std::vector<int> buffers{step.buffer};
  const double launch_us = plan_.cuda_graph ? gpu_.costs.graph_launch_us : gpu_.costs.launch_us;
  KernelReport row;
  row.name = fmt::format("zero {}", plan_.buffers[static_cast<std::size_t>(step.buffer)].name);
  row.is_op = true;
  row.bytes_written = bytes_of(buffers);
  row.launch_milliseconds = launch_us / 1e3;
  row.milliseconds = row.launch_milliseconds + 1e3 * row.bytes_written / gpu_.memory.l2_bytes_per_second;
  row.bound = "launch";
  add(row, buffers);
}

}  // namespace cudal1::vgpu
