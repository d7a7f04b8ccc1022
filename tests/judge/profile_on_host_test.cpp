// Where the time goes, on a device that can be timed: the real judge and runner process with kernels emulated on the
// processor, counted by the real virtual GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/files.hpp"
#include "compile/clang_compiler.hpp"
#include "device/vgpu/model/kernel_report.hpp"
#include "example_programs.hpp"
#include "host_backend.hpp"
#include "judge/judge.hpp"
#include "small_task.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;
using vgpu::KernelReport;
using vgpu::ProfileReport;

HostBackend& backend() {
  static const int one_thread [[maybe_unused]] = ::setenv("OMP_NUM_THREADS", "1", 1);
  static HostBackend instance;
  static const bool calm [[maybe_unused]] = (instance.set_quirks({.kernels_ms = 1.0, .library_ms = 1.0}), true);
  return instance;
}

std::unique_ptr<Backend> virtual_gpu(const std::string& gpu_file) {
  return make_vgpu_backend(std::make_unique<ClangCompiler>(), {.gpu = gpu_file, .checks = "none", .sample_blocks = 16});
}

ProfileReport profile_of(const std::string& program, const MakeCountingBackend& counter) {
  const TemporaryFolder scratch;
  const fs::path path = testing::examples_folder() / program;
  JudgeOptions options;
  options.mode = JudgeMode::fast;
  options.call_limit_seconds = 20.0;
  options.profile_steps = true;
  options.counting_backend = counter;
  TaskJudge judge(backend(), testing::make_small_task(path.parent_path(), scratch.path() / "task"), options);
  const Evaluation evaluation = judge.evaluate(judge.compile(path.filename().string(), read_file(path)));
  EXPECT_EQ(to_string(evaluation.status), "ok") << evaluation.failure.message;
  return vgpu::report_from_json(evaluation.profile);
}

const KernelReport& row_named(const ProfileReport& report, std::string_view name) {
  const auto found = std::ranges::find(report.rows, name, &KernelReport::name);
  if (found == report.rows.end()) throw Error("no row " + std::string(name));
  return *found;
}

bool has_note(const ProfileReport& report, const std::string& part) {
  return std::ranges::any_of(report.notes, [&](const std::string& n) { return n.find(part) != std::string::npos; });
}

//! Of the program's task: small.
constexpr const char* with_library_steps = "gated_residual/ok-between_library_steps.cu";

TEST(ProfileOnHost, MeasuredTimesStandBesideWhatTheVirtualGpuCounts) {
  if (!find_clang()) GTEST_SKIP() << clang_search_description();
  const ProfileReport report = profile_of(with_library_steps, virtual_gpu);
  EXPECT_FALSE(report.predicted);
  EXPECT_EQ(report.gpu, "host processor");
  EXPECT_DOUBLE_EQ(report.whole_call_ms.value_or(0), 1.0);
  EXPECT_NEAR(report.total_ms(), 1.0, 1e-9);  // a tenth around the steps, which share the rest
  const KernelReport& kernel = row_named(report, "gate_tanh");
  EXPECT_NEAR(kernel.milliseconds, 0.9 / static_cast<double>(report.rows.size()), 1e-9);
  EXPECT_EQ(kernel.source_line, 2);
  EXPECT_EQ(kernel.residency.value().registers, 40u);  // the device's word, not the virtual GPU's
  ASSERT_TRUE(kernel.counted);
  EXPECT_DOUBLE_EQ(kernel.bytes_read, 2 * kernel.bytes_written);  // x and the gate
  EXPECT_GT(kernel.facts.value().sectors_per_request, 0);
  EXPECT_GT(kernel.predicted_milliseconds.value_or(0), 0);
  EXPECT_NE(kernel.bound, "");
  for (const KernelReport& row : report.rows) EXPECT_TRUE(row.counted) << row.name;
}

TEST(ProfileOnHost, SaysThatAGraphWasTakenApartAndWhichProfileCounted) {
  if (!find_clang()) GTEST_SKIP() << clang_search_description();
  const ProfileReport report = profile_of(with_library_steps, virtual_gpu);
  EXPECT_TRUE(has_note(report, "outside the program's CUDA Graph"));
  EXPECT_TRUE(has_note(report, "counted with the profile"));
}

TEST(ProfileOnHost, ASampleOfTheBlocksCountsTheBytesOfAllOfThem) {
  if (!find_clang()) GTEST_SKIP() << clang_search_description();
  const auto all_blocks = [](const std::string& file) {
    return make_vgpu_backend(std::make_unique<ClangCompiler>(), {.gpu = file, .checks = "none"});
  };
  const ProfileReport sampled = profile_of("row_softmax/ok-fast.cu", virtual_gpu);
  const ProfileReport whole = profile_of("row_softmax/ok-fast.cu", all_blocks);
  EXPECT_NEAR(sampled.rows.at(0).bytes_read / whole.rows.at(0).bytes_read, 1, 0.02);
  EXPECT_NEAR(sampled.rows.at(0).bytes_written / whole.rows.at(0).bytes_written, 1, 0.02);
}

TEST(ProfileOnHost, WithoutACounterTimesStandAloneAndANoteSaysWhy) {
  const ProfileReport report = profile_of(with_library_steps, [](const std::string&) -> std::unique_ptr<Backend> {
    throw Error("clang is missing: install the package clang\nmore");
  });
  EXPECT_TRUE(has_note(report, "not counted: clang is missing: install the package clang"));
  EXPECT_FALSE(has_note(report, "more"));
  EXPECT_FALSE(row_named(report, "gate_tanh").counted);
  EXPECT_GT(row_named(report, "gate_tanh").milliseconds, 0);
}

TEST(ProfileOnHost, IsNotMadeUnlessAskedFor) {
  const TemporaryFolder scratch;
  const fs::path path = testing::examples_folder() / "vector_add/ok-grid_stride.cu";
  JudgeOptions options;
  options.mode = JudgeMode::fast;
  options.call_limit_seconds = 20.0;
  TaskJudge judge(backend(), testing::make_small_task(path.parent_path(), scratch.path() / "task"), options);
  EXPECT_EQ(judge.evaluate(judge.compile("x", read_file(path))).profile, "");
}

}  // namespace
}  // namespace cudal1
