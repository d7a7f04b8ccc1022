#include "device/vgpu/model/kernel_report.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "made_up_kernels.hpp"

namespace cudal1::vgpu {
namespace {

const GpuProfile h200 = find_profile("h200");

KernelReport report(const MadeUpKernel& kernel, const std::string& name = "k", int line = 7) {
  return report_of_kernel(name, line, h200, kernel.shape, kernel.counters,
                          predict(h200, kernel.shape, kernel.counters));
}

TEST(KernelReports, ACopyIsAtTheMemorysLimit) {
  const KernelReport row = report(made_up_copy(65536, 1 << 29));
  EXPECT_EQ(row.bound, "DRAM bandwidth");
  EXPECT_EQ(row.bytes_read, 1 << 29);
  EXPECT_EQ(row.bytes_written, 1 << 29);
  EXPECT_NEAR(row.dram_share, 0.85, 0.06);
  EXPECT_NE(row.advice.find("% of the memory's peak: only moving fewer bytes helps"), std::string::npos) << row.advice;
  ASSERT_TRUE(row.facts);
  EXPECT_DOUBLE_EQ(row.facts->sectors_per_request, 16);
  EXPECT_DOUBLE_EQ(row.facts->least_sectors_per_request, 16);
  EXPECT_DOUBLE_EQ(row.facts->lanes_per_instruction, 32);
  EXPECT_DOUBLE_EQ(row.residency->occupancy, 1);
  EXPECT_EQ(row.residency->occupancy_limit, "warps");
}

TEST(KernelReports, AdviceFollowsFromTheFacts) {
  MadeUpKernel strided = made_up_copy(65536, 1 << 28);
  strided.counters.global_loads = {1 << 21, 1 << 26, 1 << 28};
  EXPECT_EQ(report(strided).advice.substr(0, 53), "a request touches 28.8 sectors where 6.4 would do: le")
      << report(strided).bound;

  MadeUpKernel conflicts = made_up_copy(65536, 1 << 24);
  conflicts.counters.shared_requests = 1 << 26;
  conflicts.counters.shared_passes = 1 << 29;
  EXPECT_EQ(report(conflicts).advice,
            "an access to shared memory takes 8.0 passes: pad rows by one element, or swizzle");

  MadeUpKernel registers = made_up_copy(1320, 1 << 24);
  registers.shape.traits.registers = 255;
  registers.counters.barriers = 8 * 1320 * 1000;
  EXPECT_EQ(report(registers).residency->occupancy_limit, "registers");
  EXPECT_NE(report(registers).advice.find("255 registers a thread"), std::string::npos) << report(registers).advice;

  MadeUpKernel serial = made_up_copy(132, 1 << 24);
  serial.shape.block = {64, 1, 1};
  serial.shape.traits.parallelism.global = 1;
  EXPECT_NE(report(serial).advice.find("has 1.0 loads on their way"), std::string::npos) << report(serial).bound;

  MadeUpKernel crumbs = made_up_copy(1 << 20, 1 << 24);
  EXPECT_EQ(report(crumbs).bound, "block starts");
  EXPECT_NE(report(crumbs).advice.find("more work a block"), std::string::npos);

  MadeUpKernel few = made_up_copy(4, 1 << 22);
  EXPECT_EQ(report(few).bound, "too few blocks: 4 for 132 multiprocessors");
  EXPECT_EQ(report(few).residency->occupancy_limit, "grid");
  EXPECT_NE(report(few).advice.find("most of the GPU is idle"), std::string::npos);

  EXPECT_NE(report(made_up_copy(1, 4096)).advice.find("launch takes longer"), std::string::npos);
}

TEST(KernelReports, DivergenceIsSaid) {
  MadeUpKernel kernel = made_up_copy(65536, 1 << 24);
  kernel.instructions(Pipe::single) = 1 << 29;
  kernel.counters.lanes = 8 * kernel.counters.warp_instructions();
  EXPECT_EQ(report(kernel).advice.substr(0, 32), "8 of 32 lanes work on average: l");
}

TEST(KernelReports, EveryPipeHasAdvice) {
  for (const Pipe pipe : {Pipe::single, Pipe::integer, Pipe::half, Pipe::twofold, Pipe::special, Pipe::conversion,
                          Pipe::memory, Pipe::control}) {
    MadeUpKernel kernel = made_up_copy(65536, 1 << 20);
    kernel.instructions(pipe) = 1 << 30;
    kernel.counters.lanes = 32 * kernel.counters.warp_instructions();
    EXPECT_FALSE(report(kernel).advice.empty()) << report(kernel).bound;
  }
}

TEST(KernelReports, ScatteredConstantsHaveAdvice) {
  MadeUpKernel kernel = made_up_copy(65536, 1 << 20);
  kernel.counters.constant_passes = 1 << 30;
  EXPECT_EQ(report(kernel).bound, "constant memory");
  EXPECT_NE(report(kernel).advice.find("served one by one"), std::string::npos);
}

TEST(ProfileReports, SharesAddUpToTheCall) {
  ProfileReport profile;
  profile.call_ms = 0.003;
  profile.add(report(made_up_copy(1024, 1 << 20), "small"));
  profile.add(report(made_up_copy(65536, 1 << 27), "large"));
  Node node;
  node.op = "aten::relu";
  const std::vector<TensorMeta> x{{DType::f32, {4096, 1024}, {1024, 1}}};
  profile.add(report_of_op("relu_1", h200, estimate_op(h200, load_op_table(), node, x, x)));
  profile.sort();
  ASSERT_EQ(profile.rows.size(), 3u);
  EXPECT_EQ(profile.rows[0].name, "large");
  double sum = profile.call_ms / profile.total_ms();
  for (const KernelReport& row : profile.rows) sum += row.share;
  EXPECT_NEAR(sum, 1, 1e-12);
}

TEST(ProfileReports, LaunchesOfOneKernelAreOneRow) {
  ProfileReport profile;
  const KernelReport once = report(made_up_copy(1024, 1 << 24));
  profile.add(once);
  profile.add(once);
  profile.add(report(made_up_copy(1024, 1 << 24), "other"));
  profile.sort();
  ASSERT_EQ(profile.rows.size(), 2u);
  EXPECT_EQ(profile.rows[0].launches, 2u);
  EXPECT_DOUBLE_EQ(profile.rows[0].milliseconds, 2 * once.milliseconds);
  EXPECT_DOUBLE_EQ(profile.rows[0].bytes_read, 2 * once.bytes_read);
  EXPECT_DOUBLE_EQ(profile.rows[0].dram_share, once.dram_share);
}

// With work of n * n a step, 10000 steps took minutes.
TEST(ProfileReports, CallsOfManyStepsAreReportedInTime) {
  const auto begin = std::chrono::steady_clock::now();
  ProfileReport profile;
  for (int i = 0; i < 10'000; ++i) {
    KernelReport row;
    row.name = fmt::format("relu_{}", i);
    row.milliseconds = i % 100;
    profile.add(row);
  }
  profile.sort();
  EXPECT_EQ(profile.rows.front().milliseconds, 99);
  EXPECT_NEAR(profile.rows.front().share, 99 / profile.total_ms(), 1e-12);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

TEST(ProfileReports, JsonHasTheSameFacts) {
  ProfileReport profile;
  profile.gpu = "h200";
  profile.add(report(made_up_copy(65536, 1 << 27)));
  const nlohmann::json json = to_json(profile);
  EXPECT_EQ(json["gpu"], "h200");
  EXPECT_EQ(json["predicted"], true);
  const nlohmann::json& step = json["steps"].at(0);
  EXPECT_EQ(step["name"], "k");
  EXPECT_EQ(step["line"], 7);
  EXPECT_EQ(step["kind"], "kernel");
  EXPECT_EQ(step["bytes_read"], 1 << 27);
  EXPECT_EQ(step["occupancy_limit"], "warps");
  EXPECT_EQ(step["advice"], profile.rows[0].advice);
  EXPECT_EQ(json["milliseconds"], profile.total_ms());
}

}  // namespace
}  // namespace cudal1::vgpu
