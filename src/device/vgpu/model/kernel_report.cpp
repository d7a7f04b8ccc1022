#include "device/vgpu/model/kernel_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "device/vgpu/model/advice.hpp"

namespace cudal1::vgpu {
namespace {

using nlohmann::json;

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

//! Every member with its name in JSON.
template <class Facts, class Visit>
void for_each_fact(Facts& facts, Visit visit) {
  visit("busiest_pipe", facts.busiest_pipe);
  visit("busiest_pipe_share", facts.busiest_pipe_share);
  visit("occupancy", facts.occupancy);
  visit("occupancy_limit", facts.occupancy_limit);
  visit("registers", facts.registers);
  visit("blocks", facts.blocks);
  visit("sectors_per_request", facts.sectors_per_request);
  visit("least_sectors_per_request", facts.least_sectors_per_request);
  visit("passes_per_shared_request", facts.passes_per_shared_request);
  visit("lanes_per_instruction", facts.lanes_per_instruction);
  visit("divergent_branches", facts.divergent_branches);
  visit("reads_of_a_byte", facts.reads_of_a_byte);
  visit("loads_in_flight", facts.loads_in_flight);
  visit("l2_share", facts.l2_share);
}

json facts_json(const KernelFacts& facts) {
  json made;
  for_each_fact(facts, [&](const char* name, const auto& value) { made[name] = value; });
  return made;
}

KernelReport row_from_json(const json& given) {
  KernelReport row;
  row.name = given.at("name");
  row.is_op = given.at("kind") == "op";
  row.source_line = given.value("line", 0);
  row.milliseconds = given.at("milliseconds");
  row.share = given.at("share");
  row.launches = given.at("launches");
  row.bytes_read = given.at("bytes_read");
  row.bytes_written = given.at("bytes_written");
  row.dram_share = given.at("dram_share");
  row.bound = given.at("bound");
  row.advice = given.at("advice");
  if (!given.contains("occupancy")) return row;
  row.facts.emplace();
  for_each_fact(*row.facts, [&](const char* name, auto& value) { given.at(name).get_to(value); });
  return row;
}

}  // namespace

KernelReport report_of_kernel(const std::string& name, int source_line, const GpuProfile& gpu, const KernelShape& shape,
                              const KernelCounters& counters, const KernelPrediction& prediction) {
  KernelReport row;
  row.name = name;
  row.source_line = source_line;
  row.milliseconds = prediction.milliseconds;
  row.bytes_read = prediction.traffic.distinct_read;
  row.bytes_written = prediction.traffic.distinct_written;
  row.dram_share = prediction.dram_share;
  row.bound = prediction.bound;
  KernelFacts facts;
  facts.busiest_pipe = prediction.busiest_pipe;
  facts.busiest_pipe_share = prediction.busiest_pipe_share;
  facts.occupancy = std::min(prediction.active_share, prediction.occupancy.share);
  facts.occupancy_limit = limit_of(prediction);
  facts.registers = shape.traits.registers;
  facts.blocks = shape.blocks();
  facts.reads_of_a_byte = ratio(prediction.traffic.l2, row.bytes_read + row.bytes_written);
  facts.loads_in_flight = shape.traits.parallelism.global;
  const double running_seconds = (prediction.milliseconds - prediction.launch_milliseconds) / 1e3;
  facts.l2_share = ratio(prediction.traffic.l2 / gpu.memory.l2_bytes_per_second, running_seconds);
  add_counts(counters, facts);
  row.facts = facts;
  row.advice = advice_for(row);
  return row;
}

KernelReport report_of_op(const std::string& name, const GpuProfile& gpu, const OpEstimate& estimate) {
  KernelReport row;
  row.name = name;
  row.is_op = true;
  row.milliseconds = estimate.milliseconds;
  row.bytes_read = estimate.work.bytes_read;
  row.bytes_written = estimate.work.bytes_written;
  const double running_seconds = (estimate.milliseconds - estimate.launch_milliseconds) / 1e3;
  row.dram_share = ratio((row.bytes_read + row.bytes_written) / gpu.memory.dram_bytes_per_second, running_seconds);
  row.bound = estimate.bound;
  row.advice = advice_for(row);
  return row;
}

double ProfileReport::total_ms() const {
  double sum = call_ms;
  for (const KernelReport& row : rows) sum += row.milliseconds;
  return sum;
}

void ProfileReport::add(const KernelReport& row) {
  const auto same = std::ranges::find_if(rows, [&](const KernelReport& r) {
    return r.name == row.name && r.is_op == row.is_op && r.source_line == row.source_line;
  });
  if (same == rows.end()) {
    rows.push_back(row);
  } else {
    KernelReport merged = row.milliseconds * static_cast<double>(same->launches) > same->milliseconds ? row : *same;
    merged.milliseconds = same->milliseconds + row.milliseconds;
    merged.launches = same->launches + row.launches;
    merged.bytes_read = same->bytes_read + row.bytes_read;
    merged.bytes_written = same->bytes_written + row.bytes_written;
    *same = merged;
  }
  std::ranges::stable_sort(rows, std::ranges::greater{}, &KernelReport::milliseconds);
  for (KernelReport& each : rows) each.share = ratio(each.milliseconds, total_ms());
}

json to_json(const KernelReport& row) {
  json made{{"name", row.name},
            {"kind", row.is_op ? "op" : "kernel"},
            {"milliseconds", row.milliseconds},
            {"share", row.share},
            {"launches", row.launches},
            {"bytes_read", row.bytes_read},
            {"bytes_written", row.bytes_written},
            {"dram_share", row.dram_share},
            {"bound", row.bound},
            {"advice", row.advice}};
  if (row.source_line > 0) made["line"] = row.source_line;
  if (row.facts) made.update(facts_json(*row.facts));
  return made;
}

json to_json(const ProfileReport& report) {
  json rows = json::array();
  for (const KernelReport& row : report.rows) rows.push_back(to_json(row));
  return {{"gpu", report.gpu},
          {"predicted", report.predicted},
          {"milliseconds", report.total_ms()},
          {"call_milliseconds", report.call_ms},
          {"steps", rows}};
}

ProfileReport report_from_json(const std::string& text) try {
  const json given = json::parse(text);
  ProfileReport report;
  report.gpu = given.at("gpu");
  report.predicted = given.at("predicted");
  report.call_ms = given.at("call_milliseconds");
  for (const json& row : given.at("steps")) report.rows.push_back(row_from_json(row));
  return report;
} catch (const json::exception& error) {
  throw Error(fmt::format("no profile report: {}", error.what()));
}

}  // namespace cudal1::vgpu
