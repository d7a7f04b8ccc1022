#include "device/vgpu/model/kernel_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "device/vgpu/model/advice.hpp"

namespace cudal1::vgpu {
namespace {

double ratio(double a, double b) { return b > 0 ? a / b : 0; }

Traffic global_traffic(const KernelCounters& counters) {
  Traffic sum;
  for (const Traffic* part : {&counters.global_loads, &counters.global_stores, &counters.global_atomics}) {
    sum.requests += part->requests;
    sum.sectors += part->sectors;
    sum.bytes_wanted += part->bytes_wanted;
  }
  return sum;
}

void add_counts(const KernelCounters& counters, KernelFacts& facts) {
  const Traffic global = global_traffic(counters);
  const auto requests = static_cast<double>(global.requests);
  facts.sectors_per_request = ratio(static_cast<double>(global.sectors), requests);
  // Lanes that want the same bytes need fewer sectors than they want bytes.
  facts.least_sectors_per_request =
      std::min(facts.sectors_per_request, ratio(static_cast<double>(global.bytes_wanted) / 32, requests));
  facts.passes_per_shared_request =
      ratio(static_cast<double>(counters.shared_passes), static_cast<double>(counters.shared_requests));
  facts.lanes_per_instruction =
      ratio(static_cast<double>(counters.lanes), static_cast<double>(counters.warp_instructions()));
  facts.divergent_branches =
      ratio(static_cast<double>(counters.divergent_branches), static_cast<double>(counters.branches));
}

//! The grid itself is the limit where it has fewer blocks than fit.
std::string limit_of(const KernelPrediction& prediction) {
  if (prediction.active_share < 0.99 * prediction.occupancy.share) return "grid";
  return to_string(prediction.occupancy.limit);
}

KernelResidency residency_of(const KernelShape& shape, const KernelPrediction& prediction) {
  KernelResidency residency;
  residency.occupancy = std::min(prediction.active_share, prediction.occupancy.share);
  residency.occupancy_limit = limit_of(prediction);
  residency.registers = shape.traits.registers;
  residency.shared_bytes = shape.shared_bytes;
  residency.local_bytes = shape.local_bytes;
  residency.blocks = shape.blocks();
  residency.threads_per_block = shape.threads_per_block();
  return residency;
}

KernelFacts facts_of(const GpuProfile& gpu, const KernelShape& shape, const KernelCounters& counters,
                     const KernelPrediction& prediction) {
  KernelFacts facts;
  facts.busiest_pipe = prediction.busiest_pipe;
  facts.busiest_pipe_share = prediction.busiest_pipe_share;
  facts.reads_of_a_byte =
      ratio(prediction.traffic.l2, prediction.traffic.distinct_read + prediction.traffic.distinct_written);
  facts.loads_in_flight = shape.traits.parallelism.global;
  const double running_seconds = (prediction.milliseconds - prediction.launch_milliseconds) / 1e3;
  facts.l2_share = ratio(prediction.traffic.l2 / gpu.memory.l2_bytes_per_second, running_seconds);
  add_counts(counters, facts);
  return facts;
}

KernelReport merged(const KernelReport& rows, const KernelReport& further) {
  const bool longer = further.milliseconds * static_cast<double>(rows.launches) > rows.milliseconds;
  KernelReport sum = longer ? further : rows;
  sum.milliseconds = rows.milliseconds + further.milliseconds;
  sum.launch_milliseconds = rows.launch_milliseconds + further.launch_milliseconds;
  sum.launches = rows.launches + further.launches;
  sum.bytes_read = rows.bytes_read + further.bytes_read;
  sum.bytes_written = rows.bytes_written + further.bytes_written;
  sum.dram_bytes = rows.dram_bytes + further.dram_bytes;
  return sum;
}

}  // namespace

KernelReport report_of_kernel(const std::string& name, int source_line, const GpuProfile& gpu, const KernelShape& shape,
                              const KernelCounters& counters, const KernelPrediction& prediction) {
  KernelReport row;
  row.name = name;
  row.source_line = source_line;
  row.milliseconds = prediction.milliseconds;
  row.launch_milliseconds = prediction.launch_milliseconds;
  row.bytes_read = prediction.traffic.distinct_read;
  row.bytes_written = prediction.traffic.distinct_written;
  row.dram_bytes = prediction.traffic.dram();
  row.dram_share = prediction.dram_share;
  row.bound = prediction.bound;
  row.residency = residency_of(shape, prediction);
  row.facts = facts_of(gpu, shape, counters, prediction);
  row.advice = advice_for(row);
  return row;
}

KernelReport report_of_op(const std::string& name, const GpuProfile& gpu, const OpEstimate& estimate) {
  KernelReport row;
  row.name = name;
  row.is_op = true;
  row.milliseconds = estimate.milliseconds;
  row.launch_milliseconds = estimate.launch_milliseconds;
  row.bytes_read = estimate.work.bytes_read;
  row.bytes_written = estimate.work.bytes_written;
  row.dram_bytes = estimate.dram_bytes;
  const double running_seconds = (estimate.milliseconds - estimate.launch_milliseconds) / 1e3;
  row.dram_share = ratio(row.dram_bytes / gpu.memory.dram_bytes_per_second, running_seconds);
  row.bound = estimate.bound;
  row.advice = advice_for(row);
  return row;
}

double ProfileReport::total_ms() const {
  double sum = call_ms - saved_ms;
  for (const KernelReport& row : rows) sum += row.milliseconds;
  return sum;
}

void ProfileReport::add(const KernelReport& row) {
  const auto same = std::ranges::find_if(rows, [&](const KernelReport& r) { return r.is_same_step(row); });
  if (same == rows.end())
    rows.push_back(row);
  else
    *same = merged(*same, row);
}

void ProfileReport::sort() {
  std::ranges::stable_sort(rows, std::ranges::greater{}, &KernelReport::milliseconds);
  const double total = total_ms();
  for (KernelReport& each : rows) each.share = ratio(each.milliseconds, total);
}

}  // namespace cudal1::vgpu
