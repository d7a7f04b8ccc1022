#include "judge/measured_profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "device/vgpu/model/advice.hpp"
#include "judge/timing_statistics.hpp"

namespace cudal1 {
namespace {

using vgpu::KernelReport;
using vgpu::KernelResidency;
using vgpu::ProfileReport;

KernelResidency residency_of(const LaunchStep& step, const LaunchResources& resources, int multiprocessors) {
  KernelResidency residency;
  residency.registers = static_cast<std::uint32_t>(resources.registers);
  residency.shared_bytes = static_cast<std::uint64_t>(resources.shared_bytes);
  residency.local_bytes = static_cast<std::uint64_t>(resources.local_bytes);
  residency.blocks = static_cast<std::uint64_t>(step.grid[0] * step.grid[1] * step.grid[2]);
  residency.threads_per_block = static_cast<std::uint32_t>(step.block[0] * step.block[1] * step.block[2]);
  residency.occupancy = resources.occupancy;
  const double given = std::ceil(static_cast<double>(residency.blocks) / std::max(1, multiprocessors));
  if (given < resources.resident_blocks) {
    residency.occupancy *= given / resources.resident_blocks;
    residency.occupancy_limit = "grid";
  }
  return residency;
}

//! Named as vgpu::CallPredictor names it.
KernelReport named_row(const Plan& plan, const Step& step) {
  KernelReport row;
  row.counted = false;
  row.is_op = !std::holds_alternative<LaunchStep>(step);
  if (const auto* launch = std::get_if<LaunchStep>(&step)) {
    row.name = launch->kernel;
    row.source_line = launch->at.line;
  } else if (const auto* zero = std::get_if<ZeroStep>(&step)) {
    row.name = fmt::format("zero {}", plan.buffers[static_cast<std::size_t>(zero->buffer)].name);
  } else {
    row.name = std::get<OpStep>(step).node.name;
  }
  return row;
}

//! Only another way to see a tensor: nothing runs.
bool is_view(const Plan& plan, const Step& step) {
  const auto* op = std::get_if<OpStep>(&step);
  if (!op) return false;
  const auto metas_of = [&](const std::vector<ValueId>& values) {
    std::vector<TensorMeta> metas;
    for (const ValueId id : values) metas.push_back(plan.values[static_cast<std::size_t>(id)].meta);
    return metas;
  };
  return vgpu::work_of(op->node, metas_of(OpGraph::reads(op->node)), metas_of(op->node.outputs)).op_class == "view";
}

template <class Number>
double median_over(const std::vector<StepTimes>& calls, Number number) {
  std::vector<double> numbers;
  for (const StepTimes& call : calls) numbers.push_back(number(call));
  return median(numbers);
}

std::vector<StepTimes> complete(const std::vector<StepTimes>& calls, std::size_t steps) {
  std::vector<StepTimes> found;
  std::ranges::copy_if(calls, std::back_inserter(found), [&](const StepTimes& c) { return c.steps.size() == steps; });
  if (found.empty() || steps == 0) throw Error("the device does not say what its steps take");
  return found;
}

//! A driver knows how many warps fit, not what keeps others out.
void name_occupancy_limit(KernelResidency& residency, const vgpu::GpuProfile& gpu) {
  if (!residency.occupancy_limit.empty()) return;
  const vgpu::Occupancy rules =
      vgpu::occupancy_of(gpu, residency.threads_per_block, residency.registers, residency.shared_bytes);
  if (rules.limit != vgpu::Occupancy::Limit::impossible) residency.occupancy_limit = to_string(rules.limit);
}

void add_counts_to_row(KernelReport& row, const KernelReport& counted, const vgpu::GpuProfile& gpu) {
  const double peak_ms = 1e3 * counted.dram_bytes / gpu.memory.dram_bytes_per_second;
  row.counted = true;
  row.predicted_milliseconds = counted.milliseconds;
  row.launch_milliseconds = counted.launch_milliseconds;
  row.bytes_read = counted.bytes_read;
  row.bytes_written = counted.bytes_written;
  row.dram_bytes = counted.dram_bytes;
  row.dram_share = row.milliseconds > 0 ? peak_ms / row.milliseconds : 0;
  row.bound = counted.bound;
  row.facts = counted.facts;
  if (row.facts && row.milliseconds > 0) {
    const double running_ms = counted.milliseconds - counted.launch_milliseconds;
    row.facts->busiest_pipe_share *= running_ms / row.milliseconds;
    row.facts->l2_share *= running_ms / row.milliseconds;
  }
  if (row.residency) name_occupancy_limit(*row.residency, gpu);
  row.advice = vgpu::advice_for(row);
}

}  // namespace

ProfileReport measured_profile(const Plan& plan, const std::vector<StepTimes>& all_calls, const DeviceInfo& device) {
  const std::vector<StepTimes> calls = complete(all_calls, plan.call.size());
  ProfileReport report;
  report.gpu = device.name;
  report.predicted = false;
  report.call_ms = median_over(calls, [](const StepTimes& call) { return call.empty_ms; });
  for (std::size_t i = 0; i < plan.call.size(); ++i) {
    if (is_view(plan, plan.call[i])) continue;
    KernelReport row = named_row(plan, plan.call[i]);
    row.milliseconds = std::max(
        0.0, median_over(calls, [&](const StepTimes& call) { return call.steps[i].milliseconds - call.empty_ms; }));
    if (const auto* launch = std::get_if<LaunchStep>(&plan.call[i]); launch && calls[0].steps[i].resources)
      row.residency = residency_of(*launch, *calls[0].steps[i].resources, device.multiprocessors);
    report.add(row);
  }
  report.sort();
  return report;
}

void add_counts(ProfileReport& measured, const ProfileReport& counted, const vgpu::GpuProfile& gpu) {
  for (KernelReport& row : measured.rows) {
    const auto same = std::ranges::find_if(counted.rows, [&](const KernelReport& r) { return r.is_same_step(row); });
    if (same != counted.rows.end()) add_counts_to_row(row, *same, gpu);
  }
}

}  // namespace cudal1
