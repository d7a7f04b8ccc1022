#include "cli/profile_report.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace cudal1 {
namespace {

using vgpu::KernelFacts;
using vgpu::KernelReport;
using vgpu::KernelResidency;
using vgpu::ProfileReport;

KernelReport kernel_row() {
  KernelReport row;
  row.name = "row_softmax";
  row.source_line = 12;
  row.milliseconds = 0.030;
  row.bytes_read = row.bytes_written = 16'777'216;
  row.dram_share = 0.41;
  row.bound = "latency: 50% occupancy";
  row.advice = "load more at once";
  KernelResidency residency;
  residency.occupancy = 0.5;
  residency.occupancy_limit = "registers";
  residency.registers = 64;
  row.residency = residency;
  KernelFacts facts;
  facts.busiest_pipe = "special functions";
  facts.busiest_pipe_share = 0.12;
  facts.sectors_per_request = 16;
  facts.least_sectors_per_request = 4;
  facts.passes_per_shared_request = 1.5;
  facts.lanes_per_instruction = 17;
  row.facts = facts;
  return row;
}

KernelReport op_row() {
  KernelReport row;
  row.name = "relu_1";
  row.is_op = true;
  row.milliseconds = 0.007;
  row.bytes_read = 2048;
  row.bound = "launch";
  return row;
}

ProfileReport two_steps() {
  ProfileReport report;
  report.gpu = "h200";
  report.call_ms = 0.003;
  report.add(op_row());
  report.add(kernel_row());
  report.sort();
  return report;
}

ProfileReport two_measured_steps() {
  ProfileReport report = two_steps();
  report.gpu = "NVIDIA H200";
  report.predicted = false;
  report.whole_call_ms = 0.038;
  report.rows[0].predicted_milliseconds = 0.012;
  report.rows[1].predicted_milliseconds = 0.006;
  return report;
}

//! As where clang is missing.
ProfileReport not_counted() {
  ProfileReport report = two_measured_steps();
  for (KernelReport& row : report.rows) {
    row.counted = false;
    row.facts.reset();
    row.predicted_milliseconds.reset();
    row.bound.clear();
    row.advice.clear();
  }
  report.notes = {"not counted: clang is missing; install the package clang"};
  return report;
}

TEST(ProfileTable, OfPredictedTimesIsThis) {
  EXPECT_EQ(
      profile_table("softmax.cu", two_steps()),
      "softmax.cu on h200 (predicted): 40.00 us a call, 3.00 us of it around the steps\n"
      "step         line      time  share  runs  registers        occupancy  DRAM           busiest pipe     read  "
      "written      sectors  passes\n"
      "row_softmax    12  30.00 us    75%     1         64  50% (registers)   41%  special functions 12%  16.8 MB  "
      "16.8 MB  16.0 of 4.0     1.5\n"
      "    bound by latency: 50% occupancy (17 of 32 lanes busy): load more at once\n"
      "op relu_1       -   7.00 us    18%     1          -                -    0%                      -   2.0 kB   "
      "0.0 kB            -       -\n"
      "    bound by launch\n"
      "DRAM, busiest pipe: share of the peak. sectors: 32-byte pieces a warp's access touches, of those it needs. "
      "passes: of shared memory for one access.\n");
}

TEST(ProfileTable, OfMeasuredTimesSaysWhichColumnsAreMeasuredAndWhichCounted) {
  EXPECT_EQ(
      profile_table("softmax.cu", two_measured_steps()),
      "softmax.cu on NVIDIA H200: 38.00 us a call; timed one by one its steps and 3.00 us around them add up to 40.00 "
      "us\n"
      "                   measured ------------  driver -------------------  counted / measured -"
      "-------  counted -----------------------------  model --\n"
      "step         line      time  share  runs  registers        occupancy  DRAM           busiest pipe     read  "
      "written      sectors  passes  expected\n"
      "row_softmax    12  30.00 us    75%     1         64  50% (registers)   41%  special functions 12%  16.8 MB  "
      "16.8 MB  16.0 of 4.0     1.5  12.00 us\n"
      "    bound by latency: 50% occupancy (17 of 32 lanes busy) (uncertain: it takes 2.5 times what the model "
      "expects): "
      "load more at once\n"
      "op relu_1       -   7.00 us    18%     1          -                -    0%                      -   2.0 kB   "
      "0.0 kB            -       -   6.00 us\n"
      "    bound by launch\n"
      "DRAM, busiest pipe: share of the peak. sectors: 32-byte pieces a warp's access touches, of those it needs. "
      "passes: of shared memory for one access.\n"
      "measured: events between the steps. counted: on the virtual GPU; for library steps, from their shapes. What "
      "bounds a step, and what it is expected to take, says the model of docs/vgpu_timing.md.\n");
}

TEST(ProfileTable, WithoutCountsHasTheMeasuredColumnsAndSaysWhatToInstall) {
  EXPECT_EQ(profile_table("softmax.cu", not_counted()),
            "softmax.cu on NVIDIA H200: 38.00 us a call; timed one by one its steps and 3.00 us around them add up to "
            "40.00 us\n"
            "                   measured ------------  driver -------------------  counted / measured  "
            "counted ----------------------  model --\n"
            "step         line      time  share  runs  registers        occupancy  DRAM  busiest pipe  read  written  "
            "sectors  passes  expected\n"
            "row_softmax    12  30.00 us    75%     1         64  50% (registers)     -             -     -        -  "
            "      -       -         -\n"
            "op relu_1       -   7.00 us    18%     1          -                -     -             -     -        -  "
            "      -       -         -\n"
            "note: not counted: clang is missing; install the package clang\n");
}

TEST(ProfileTable, OfNoStepsIsTitleAndNotes) {
  ProfileReport report;
  report.gpu = "NVIDIA H200";
  report.predicted = false;
  report.whole_call_ms = 0.5;
  report.notes = {"steps were not timed: no runner"};
  const std::string text = profile_table("x.cu", report);
  EXPECT_EQ(text.find("occupancy"), std::string::npos);
  EXPECT_NE(text.find("note: steps were not timed: no runner\n"), std::string::npos);
}

TEST(ProfileTable, IsTheSameAfterATripThroughJson) {
  for (const ProfileReport& report : {two_steps(), two_measured_steps(), not_counted()})
    EXPECT_EQ(profile_table("x.cu", vgpu::report_from_json(vgpu::to_text(report))), profile_table("x.cu", report));
}

TEST(ProfileTable, ColumnsStayAlignedWhateverTheNames) {
  ProfileReport report = two_measured_steps();
  KernelReport long_name = kernel_row();
  long_name.name = "a_kernel_with_a_rather_long_name<float, 128>";
  long_name.milliseconds = 12.5;
  report.add(long_name);
  report.sort();
  std::istringstream lines(profile_table("x.cu", report));
  std::size_t width = 0;
  int rows = 0;
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    const bool is_text = line.starts_with("    bound") || line.starts_with("DRAM, ") || line.starts_with("measured:");
    if (is_text) continue;
    if (width == 0) width = line.size();
    EXPECT_EQ(line.size(), width) << line;
    ++rows;
  }
  EXPECT_EQ(rows, 5);
}

}  // namespace
}  // namespace cudal1
