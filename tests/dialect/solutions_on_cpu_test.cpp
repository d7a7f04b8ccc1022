// Every solution of the collection that needs no GPU gets the status that its name begins with.
#include "corpus.hpp"

namespace cudal1 {
namespace {

//! Enough for compilers, and little enough to be used up by a test.
SolutionDevice device_with_little_memory() {
  SolutionDevice device = solution_device_on_cpu();
  device.host_memory_bytes = std::uint64_t{4} << 30;
  return device;
}

class SolutionsOnCpu : public testing::TestWithParam<CorpusCase> {};

TEST_P(SolutionsOnCpu, GetTheStatusTheirNameBeginsWith) {
  static const SolutionDevice device = device_with_little_memory();
  if (needs_landlock(GetParam()) && landlock_abi() == 0) GTEST_SKIP() << "this kernel has no Landlock";
  const Evaluation evaluation = evaluate_case(GetParam(), device);
  expect_status(GetParam(), evaluation);
  EXPECT_EQ(evaluation.dialect, "torch");
  // On the CPU none of these is a better way to do the same: whoever looks fast has fooled the clock.
  const bool fooled = evaluation.timing && !GetParam().slow && evaluation.timing->speedup > 2.0;
  EXPECT_FALSE(fooled);
}

INSTANTIATE_TEST_SUITE_P(LinearRelu, SolutionsOnCpu, testing::ValuesIn(corpus_of("linear_relu")), case_name);
INSTANTIATE_TEST_SUITE_P(BatchNorm, SolutionsOnCpu, testing::ValuesIn(corpus_of("batch_norm")), case_name);

}  // namespace
}  // namespace cudal1
