// Every example program on a real GPU.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <memory>

#include "base/files.hpp"
#include "cheat_reasons.hpp"
#include "compile/nvrtc_compiler.hpp"
#include "device/cuda/driver.hpp"
#include "example_programs.hpp"
#include "judge/judge.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;

Backend& backend() {
  static const std::unique_ptr<Backend> instance = make_cuda_backend(0, std::make_unique<NvrtcCompiler>());
  return *instance;
}

TaskJudge& judge_of(const std::string& example) {
  // One at a time: a judge holds two runner processes and their memory.
  static std::string current;
  static std::unique_ptr<TaskJudge> judge;
  if (current != example) {
    judge.reset();
    JudgeOptions options;
    options.mode = JudgeMode::fast;
    judge = std::make_unique<TaskJudge>(backend(), testing::examples_folder() / example, options);
    current = example;
  }
  return *judge;
}

class ExampleOnGpu : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    std::string reason;
    if (cuda::device_count(reason) == 0) GTEST_SKIP() << reason;
  }
};

TEST_P(ExampleOnGpu, GetsTheStatusItsNameStartsWith) {
  const fs::path program = GetParam();
  TaskJudge& judge = judge_of(program.parent_path().string());
  const std::string text = read_file(testing::examples_folder() / program);
  const Evaluation evaluation = judge.evaluate(judge.compile(program.filename().string(), text));
  EXPECT_EQ(to_string(evaluation.status), testing::status_in_name(program)) << evaluation.failure.message << "\n"
                                                                            << evaluation.failure.details;
  EXPECT_NE(evaluation.failure.message.find(testing::cheat_reason(GetParam(), true)), std::string::npos)
      << evaluation.failure.message;
  if (evaluation.timing)
    std::printf("           %.2fx %.4f ms -> %.4f ms, %d pairs, %.2f s\n", evaluation.timing->speedup,
                evaluation.timing->reference_ms, evaluation.timing->candidate_ms, evaluation.timing->pairs,
                evaluation.seconds);
}

INSTANTIATE_TEST_SUITE_P(Examples, ExampleOnGpu, ::testing::ValuesIn(testing::example_programs()), testing::test_name);

}  // namespace
}  // namespace cudal1
