#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/result.hpp"
#include "device/vgpu/model/kernel_report.hpp"

namespace cudal1::vgpu {
namespace {

using nlohmann::json;

// Every member with its name in JSON.

template <class Residency, class Visit>
void for_each_of_residency(Residency& residency, Visit visit) {
  visit("occupancy", residency.occupancy);
  visit("occupancy_limit", residency.occupancy_limit);
  visit("registers", residency.registers);
  visit("shared_bytes", residency.shared_bytes);
  visit("local_bytes", residency.local_bytes);
  visit("blocks", residency.blocks);
  visit("threads_per_block", residency.threads_per_block);
}

template <class Row, class Visit>
void for_each_count(Row& row, Visit visit) {
  visit("bytes_read", row.bytes_read);
  visit("bytes_written", row.bytes_written);
  visit("dram_bytes", row.dram_bytes);
  visit("dram_share", row.dram_share);
  visit("bound", row.bound);
  visit("advice", row.advice);
}

template <class Facts, class Visit>
void for_each_fact(Facts& facts, Visit visit) {
  visit("busiest_pipe", facts.busiest_pipe);
  visit("busiest_pipe_share", facts.busiest_pipe_share);
  visit("sectors_per_request", facts.sectors_per_request);
  visit("least_sectors_per_request", facts.least_sectors_per_request);
  visit("passes_per_shared_request", facts.passes_per_shared_request);
  visit("lanes_per_instruction", facts.lanes_per_instruction);
  visit("divergent_branches", facts.divergent_branches);
  visit("reads_of_a_byte", facts.reads_of_a_byte);
  visit("loads_in_flight", facts.loads_in_flight);
  visit("l2_share", facts.l2_share);
}

auto writer(json& made) {
  return [&made](const char* name, const auto& value) { made[name] = value; };
}

auto reader(const json& given) {
  return [&given](const char* name, auto& value) { given.at(name).get_to(value); };
}

KernelReport row_from_json(const json& given) {
  KernelReport row;
  row.name = given.at("name");
  row.is_op = given.at("kind") == "op";
  row.source_line = given.value("line", 0);
  row.milliseconds = given.at("milliseconds");
  row.launch_milliseconds = given.value("launch_milliseconds", 0.0);
  if (given.contains("predicted_milliseconds")) row.predicted_milliseconds = given["predicted_milliseconds"];
  row.share = given.at("share");
  row.launches = given.at("launches");
  row.counted = given.contains("bytes_read");
  if (row.counted) for_each_count(row, reader(given));
  if (given.contains("occupancy")) for_each_of_residency(row.residency.emplace(), reader(given));
  if (given.contains("sectors_per_request")) for_each_fact(row.facts.emplace(), reader(given));
  return row;
}

//! Which fields come from where, for a reader who has only the JSON.
json sources_of(const ProfileReport& report) {
  if (report.predicted) return {{"predicted", "all fields, by the virtual GPU: counts, and times by its model"}};
  return {{"measured", {"milliseconds", "share", "call_milliseconds", "whole_call_milliseconds"}},
          {"driver", {"occupancy", "registers", "shared_bytes", "local_bytes"}},
          {"counted over measured time", {"dram_share", "busiest_pipe_share", "l2_share"}},
          {"counted on the virtual GPU", "all other fields"},
          {"predicted", {"predicted_milliseconds", "launch_milliseconds", "bound"}}};
}

}  // namespace

json to_json(const KernelReport& row) {
  json made{{"name", row.name},
            {"kind", row.is_op ? "op" : "kernel"},
            {"milliseconds", row.milliseconds},
            {"share", row.share},
            {"launches", row.launches},
            {"counted", row.counted}};
  if (row.source_line > 0) made["line"] = row.source_line;
  if (row.predicted_milliseconds) made["predicted_milliseconds"] = *row.predicted_milliseconds;
  if (row.counted) {
    made["launch_milliseconds"] = row.launch_milliseconds;
    for_each_count(row, writer(made));
  }
  if (row.residency) for_each_of_residency(*row.residency, writer(made));
  if (row.facts) for_each_fact(*row.facts, writer(made));
  return made;
}

json to_json(const ProfileReport& report) {
  json rows = json::array();
  for (const KernelReport& row : report.rows) rows.push_back(to_json(row));
  json made{{"gpu", report.gpu},
            {"predicted", report.predicted},
            {"milliseconds", report.total_ms()},
            {"call_milliseconds", report.call_ms},
            {"sources", sources_of(report)},
            {"notes", report.notes},
            {"steps", rows}};
  if (report.saved_ms > 0) made["saved_milliseconds"] = report.saved_ms;
  if (report.whole_call_ms) made["whole_call_milliseconds"] = *report.whole_call_ms;
  return made;
}

std::string to_text(const ProfileReport& report) {
  return to_json(report).dump(-1, ' ', false, json::error_handler_t::replace);
}

ProfileReport report_from_json(const std::string& text) try {
  const json given = json::parse(text);
  ProfileReport report;
  report.gpu = given.at("gpu");
  report.predicted = given.at("predicted");
  report.call_ms = given.at("call_milliseconds");
  report.saved_ms = given.value("saved_milliseconds", 0.0);
  if (given.contains("whole_call_milliseconds")) report.whole_call_ms = given["whole_call_milliseconds"];
  report.notes = given.value("notes", std::vector<std::string>{});
  for (const json& row : given.at("steps")) report.rows.push_back(row_from_json(row));
  return report;
} catch (const json::exception& error) {
  throw Error(fmt::format("no profile report: {}", error.what()));
}

}  // namespace cudal1::vgpu
