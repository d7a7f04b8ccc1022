#include "cli/profile_report.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace cudal1 {
namespace {

using vgpu::KernelFacts;
using vgpu::KernelReport;
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
  KernelFacts facts;
  facts.busiest_pipe = "special functions";
  facts.busiest_pipe_share = 0.12;
  facts.occupancy = 0.5;
  facts.occupancy_limit = "registers";
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
  return report;
}

TEST(ProfileTable, IsThis) {
  EXPECT_EQ(
      profile_table("softmax.cu", two_steps()),
      "softmax.cu on h200 (predicted): 40.00 us a call, 3.00 us of it around the steps\n"
      "step         line      time  share  runs     read  written  DRAM           busiest pipe        occupancy      "
      "sectors  passes\n"
      "row_softmax    12  30.00 us    75%     1  16.8 MB  16.8 MB   41%  special functions 12%  50% (registers)  16.0 "
      "of 4.0     1.5\n"
      "    bound by latency: 50% occupancy (17 of 32 lanes busy): load more at once\n"
      "op relu_1       -   7.00 us    18%     1   2.0 kB   0.0 kB    0%                      -                -        "
      "    -       -\n"
      "    bound by launch\n"
      "DRAM: share of its peak. sectors: 32-byte pieces a warp's access touches, of those it needs. passes: of shared "
      "memory for one access.\n");
}

TEST(ProfileTable, MeasuredTimesAreNotCalledPredicted) {
  ProfileReport report = two_steps();
  report.predicted = false;
  EXPECT_EQ(profile_table("x.cu", report).find("predicted"), std::string::npos);
}

TEST(ProfileTable, ColumnsStayAlignedWhateverTheNames) {
  ProfileReport report = two_steps();
  KernelReport long_name = kernel_row();
  long_name.name = "a_kernel_with_a_rather_long_name<float, 128>";
  long_name.milliseconds = 12.5;
  report.add(long_name);
  std::istringstream lines(profile_table("x.cu", report));
  std::size_t width = 0;
  int rows = 0;
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    if (line.starts_with("    ") || line.starts_with("DRAM:")) continue;
    if (width == 0) width = line.size();
    EXPECT_EQ(line.size(), width) << line;
    ++rows;
  }
  EXPECT_EQ(rows, 4);
}

}  // namespace
}  // namespace cudal1
