// The whole path without a GPU, as users without one go it: clang, the virtual GPU's runner, the real judge.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>

#include "base/files.hpp"
#include "cheat_reasons.hpp"
#include "compile/clang_compiler.hpp"
#include "example_programs.hpp"
#include "judge/judge.hpp"
#include "small_task.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;

Backend& backend() {
  static const int one_thread [[maybe_unused]] = ::setenv("OMP_NUM_THREADS", "1", 1);
  static const std::unique_ptr<Backend> instance = make_vgpu_backend(std::make_unique<ClangCompiler>());
  return *instance;
}

TaskJudge& judge_of(const std::string& example) {
  static const TemporaryFolder scratch;
  static std::map<std::string, std::unique_ptr<TaskJudge>> judges;
  auto& judge = judges[example];
  if (!judge) {
    const fs::path task = testing::make_small_task(testing::examples_folder() / example, scratch.path() / example);
    JudgeOptions options;
    options.mode = JudgeMode::fast;
    options.bytes_for_input_sets = std::uint64_t{256} << 20;  // as in a search: others have seen the same inputs
    judge = std::make_unique<TaskJudge>(backend(), task, options);
  }
  return *judge;
}

//! Programs whose verdict needs the full size.
bool needs_the_full_size(const std::string& file) {
  for (const char* part : {"grid_too_tall", "forgets_tail", "number_too_large"})
    if (file.find(part) != std::string::npos) return true;
  return false;
}

std::vector<std::string> programs() {
  std::vector<std::string> programs = testing::example_programs();
  std::erase_if(programs, needs_the_full_size);
  return programs;
}

Evaluation evaluate(const std::string& task, const std::string& name, const std::string& text) {
  TaskJudge& judge = judge_of(task);
  return judge.evaluate(judge.compile(name, text));
}

class ExampleOnVgpu : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!find_clang()) GTEST_SKIP() << "no clang: " << clang_search_description();
  }
};

TEST_P(ExampleOnVgpu, GetsTheStatusItsNameStartsWith) {
  const fs::path program = GetParam();
  const Evaluation evaluation = evaluate(program.parent_path().string(), program.filename().string(),
                                         read_file(testing::examples_folder() / program));
  EXPECT_EQ(to_string(evaluation.status), testing::status_in_name(program)) << evaluation.failure.message << "\n"
                                                                            << evaluation.failure.details;
  EXPECT_NE(evaluation.failure.message.find(testing::cheat_reason(GetParam(), false)), std::string::npos)
      << evaluation.failure.message;
}

TEST(CheatReasons, NameProgramsThatExist) {
  for (const auto& reason : testing::cheat_reasons)
    EXPECT_TRUE(fs::exists(testing::examples_folder() / reason.program)) << reason.program;
}

Evaluation softmax_under_seed(std::uint64_t seed) {
  const TemporaryFolder scratch;
  const fs::path example = testing::examples_folder() / "row_softmax";
  JudgeOptions options;
  options.seed = seed;
  TaskJudge judge(backend(), testing::make_small_task(example, scratch.path() / "task"), options);
  return judge.evaluate(judge.compile("ok-fast.cu", read_file(example / "ok-fast.cu")));
}

//! Input sets are made by another thread, while the runner is busy.
TEST(SeedOnVgpu, DecidesEveryNumber) {
  if (!find_clang()) GTEST_SKIP() << "no clang: " << clang_search_description();
  const Evaluation one = softmax_under_seed(7), same = softmax_under_seed(7), other = softmax_under_seed(8);
  ASSERT_EQ(one.errors.size(), 1u);
  EXPECT_EQ(one.errors[0].max_error, same.errors.at(0).max_error);
  EXPECT_EQ(one.errors[0].rms_error, same.errors.at(0).rms_error);
  EXPECT_EQ(one.errors[0].max_budget, same.errors.at(0).max_budget);
  EXPECT_NE(one.errors[0].rms_error, other.errors.at(0).rms_error);
}

//! Right results, but every thread looks at memory that nobody wrote.
constexpr const char* reads_nothing = R"(//! buffer spare f32 [numel(x)]
//! kernel add replaces add_1 : grid=ceil_div(numel(x), 256) block=256 args=(x, y, spare, add_1, i32:numel(x))
extern "C" __global__ void add(const float* x, const float* y, float* spare, float* sum, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) sum[i] = x[i] + y[i] + (spare[i] == 1.2345e-30f ? 1.0f : 0.0f);
}
)";

TEST(JudgeOnVgpu, WhatTheFirstCallShowsCountsAlsoWhereItCapturesAGraph) {
  if (!find_clang()) GTEST_SKIP() << "no clang: " << clang_search_description();
  for (const std::string end : {"", "//! graph\n"}) {
    const Evaluation evaluation = evaluate("vector_add", "reads_nothing.cu", reads_nothing + end);
    EXPECT_EQ(to_string(evaluation.status), "unsafe") << end << evaluation.failure.message;
    EXPECT_EQ(evaluation.failure.at.line, 5) << end;
  }
}

//! Right on all inputs, and slow where they do not look as usual.
constexpr const char* recognises_usual_inputs = R"(
//! kernel add replaces add_1 : grid=ceil_div(numel(x), 256) block=256 args=(x, y, add_1, i32:numel(x))
extern "C" __global__ void add(const float* x, const float* y, float* sum, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  float wasted = 0.0f;
  if (x[0] == x[1])
    for (int k = 0; k < 2000; ++k) wasted = wasted * 1.0000001f + 1e-30f;
  sum[i] = wasted == 12345.678f ? wasted : x[i] + y[i];
}
)";

TEST(JudgeOnVgpu, AShortCutOnUsualInputsDoesNotPay) {
  if (!find_clang()) GTEST_SKIP() << "no clang: " << clang_search_description();
  const std::string honest = read_file(testing::examples_folder() / "vector_add" / "ok-naive.cu");
  const Evaluation plain = evaluate("vector_add", "ok-naive.cu", honest);
  const Evaluation sly = evaluate("vector_add", "sly.cu", recognises_usual_inputs);
  ASSERT_EQ(to_string(sly.status), "ok") << sly.failure.message;
  ASSERT_TRUE(plain.timing && sly.timing);
  EXPECT_LT(sly.timing->speedup, 0.5 * plain.timing->speedup);
}

constexpr const char* needs_another_gpu =
    R"(//! kernel add replaces add_1 : grid=ceil_div(numel(x), 256) block=256 args=(x, y, add_1, i32:numel(x))
extern "C" __global__ void add(const float* x, const float* y, float* sum, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) sum[i] = x[i] + y[i];
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
)";

TEST(JudgeOnVgpu, AnInstructionThatIsNotKnownIsRefusedByNameAndLine) {
  if (!find_clang()) GTEST_SKIP() << "no clang: " << clang_search_description();
  const Evaluation evaluation = evaluate("vector_add", "needs_another_gpu.cu", needs_another_gpu);
  EXPECT_EQ(to_string(evaluation.status), "unsupported");
  EXPECT_EQ(evaluation.failure.message, "the instruction 'cp.async.bulk.commit_group' is not known");
  const auto json = to_json(evaluation);
  EXPECT_EQ(json.at("error").at("line"), 5);
  EXPECT_EQ(json.at("details").at("target"), ClangCompiler().target_for("sm_90"));
}

INSTANTIATE_TEST_SUITE_P(Examples, ExampleOnVgpu, ::testing::ValuesIn(programs()), testing::test_name);

}  // namespace
}  // namespace cudal1
