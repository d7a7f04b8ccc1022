// The match rule's collection on a real GPU.
#include <gtest/gtest.h>

#include <memory>

#include "compile/nvrtc_compiler.hpp"
#include "device/cuda/driver.hpp"
#include "example_programs.hpp"
#include "match_rule_collection.hpp"

namespace cudal1 {
namespace {

Backend& backend() {
  static const std::unique_ptr<Backend> instance = make_cuda_backend(0, std::make_unique<NvrtcCompiler>());
  return *instance;
}

class MatchRuleOnGpu : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    std::string reason;
    if (cuda::device_count(reason) == 0) GTEST_SKIP() << reason;
  }
};

TEST_P(MatchRuleOnGpu, AcceptsHonestProgramsAndRejectsTheOthers) {
  testing::expect_verdict_in_name(backend(), GetParam());
}

INSTANTIATE_TEST_SUITE_P(Collection, MatchRuleOnGpu, ::testing::ValuesIn(testing::match_rule_programs()),
                         testing::test_name);

}  // namespace
}  // namespace cudal1
