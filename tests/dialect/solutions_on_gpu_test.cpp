// The same on a GPU, and those that need one.
#include <cstdio>

#include "compile/nvrtc_compiler.hpp"
#include "corpus.hpp"
#include "device/cuda/driver.hpp"

namespace cudal1 {
namespace {

//! On a GPU the small task takes some microseconds, less than clocks can be compared by; gpu_only has larger lies.
std::vector<CorpusCase> corpus_for_any_device() {
  std::vector<CorpusCase> cases = corpus_of("linear_relu");
  std::erase_if(cases, [](const CorpusCase& entry) { return entry.status == "clock_mismatch"; });
  return cases;
}

class SolutionsOnGpu : public testing::TestWithParam<CorpusCase> {};

TEST_P(SolutionsOnGpu, GetTheStatusTheirNameBeginsWith) {
  std::string reason;
  if (cuda::device_count(reason) == 0) GTEST_SKIP() << "no GPU: " << reason;
  static const SolutionDevice device = solution_device_on(make_cuda_backend(0, std::make_unique<NvrtcCompiler>()));
  if (needs_landlock(GetParam()) && landlock_abi() == 0) GTEST_SKIP() << "this kernel has no Landlock";
  const Evaluation evaluation = evaluate_case(GetParam(), device);
  expect_status(GetParam(), evaluation);
  std::printf("%s: %s", GetParam().file.filename().c_str(), std::string(to_string(evaluation.status)).c_str());
  if (evaluation.timing)
    std::printf(" %.3fx [%.3f, %.3f] %.4f ms", evaluation.timing->speedup, evaluation.timing->low,
                evaluation.timing->high, evaluation.timing->candidate_ms);
  std::printf(" in %.1f s %s\n", evaluation.seconds, evaluation.failure.message.c_str());
}

INSTANTIATE_TEST_SUITE_P(LinearRelu, SolutionsOnGpu, testing::ValuesIn(corpus_for_any_device()), case_name);
INSTANTIATE_TEST_SUITE_P(BatchNorm, SolutionsOnGpu, testing::ValuesIn(corpus_of("batch_norm")), case_name);
INSTANTIATE_TEST_SUITE_P(GpuOnly, SolutionsOnGpu, testing::ValuesIn(corpus_of("gpu_only")), case_name);

}  // namespace
}  // namespace cudal1
