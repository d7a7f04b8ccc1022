// Times of single steps on a real GPU.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/files.hpp"
#include "compile/clang_compiler.hpp"
#include "compile/nvrtc_compiler.hpp"
#include "device/cuda/driver.hpp"
#include "device/vgpu/model/kernel_report.hpp"
#include "example_programs.hpp"
#include "judge/judge.hpp"

namespace cudal1 {
namespace {

using vgpu::KernelReport;
using vgpu::ProfileReport;

class ProfileOnGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string reason;
    if (cuda::device_count(reason) == 0) GTEST_SKIP() << reason;
    backend_ = make_cuda_backend(0, std::make_unique<NvrtcCompiler>());
  }

  ProfileReport profile_of(const std::string& program) {
    const auto path = testing::examples_folder() / program;
    JudgeOptions options;
    options.mode = JudgeMode::fast;
    options.profile_steps = true;
    options.counting_backend = [](const std::string& gpu_file) {
      return make_vgpu_backend(std::make_unique<ClangCompiler>(),
                               {.gpu = gpu_file, .checks = "none", .sample_blocks = 264});
    };
    TaskJudge judge(*backend_, path.parent_path(), options);
    const Evaluation evaluation = judge.evaluate(judge.compile(path.filename().string(), read_file(path)));
    EXPECT_TRUE(evaluation.timing) << evaluation.failure.message;
    return vgpu::report_from_json(evaluation.profile);
  }

  static void expect_plausible(const ProfileReport& report) {
    EXPECT_FALSE(report.predicted);
    ASSERT_TRUE(report.whole_call_ms);
    EXPECT_GT(report.total_ms(), 0.5 * *report.whole_call_ms);
    EXPECT_LT(report.total_ms(), 2.0 * *report.whole_call_ms);
    for (const KernelReport& row : report.rows) EXPECT_GT(row.milliseconds, 0) << row.name;
  }

  std::unique_ptr<Backend> backend_;
};

TEST_F(ProfileOnGpu, OneKernelTakesTheWholeCall) {
  const ProfileReport report = profile_of("row_softmax/ok-fast.cu");
  expect_plausible(report);
  ASSERT_EQ(report.rows.size(), 1u);
  const KernelReport& row = report.rows[0];
  EXPECT_EQ(row.name, "row_softmax<8>");
  EXPECT_EQ(row.launches, 1u);
  ASSERT_TRUE(row.residency);
  EXPECT_GT(row.residency->registers, 0u);
  EXPECT_GT(row.residency->occupancy, 0);
  EXPECT_LE(row.residency->occupancy, 1);
  if (!find_clang()) GTEST_SKIP() << "not counted: " << clang_search_description();
  ASSERT_TRUE(row.counted) << report.notes.back();
  EXPECT_GT(row.dram_share, 0);
  EXPECT_LT(row.dram_share, 1);
}

TEST_F(ProfileOnGpu, StepsOfAGraphAreTimedOneByOne) {
  const ProfileReport report = profile_of("gated_residual/ok-between_library_steps.cu");
  EXPECT_FALSE(report.predicted);
  ASSERT_TRUE(report.whole_call_ms);
  EXPECT_GT(report.total_ms(), 0.5 * *report.whole_call_ms);  // outside the graph it may well take longer
  EXPECT_EQ(std::ranges::count(report.rows, "gate_tanh", &KernelReport::name), 1);
  EXPECT_GT(std::ranges::count(report.rows, true, &KernelReport::is_op), 0);
}

TEST_F(ProfileOnGpu, LibraryStepsAreTimedToo) {
  const ProfileReport report = profile_of("gated_residual/ok-empty.cu");
  expect_plausible(report);
  for (const KernelReport& row : report.rows) EXPECT_TRUE(row.is_op) << row.name;
}

}  // namespace
}  // namespace cudal1
