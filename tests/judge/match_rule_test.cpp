// The match rule's collection with kernels emulated on the processor.
#include <gtest/gtest.h>

#include <cstdlib>

#include "example_programs.hpp"
#include "host_backend.hpp"
#include "match_rule_collection.hpp"

namespace cudal1 {
namespace {

HostBackend& backend() {
  static const int one_thread [[maybe_unused]] = ::setenv("OMP_NUM_THREADS", "1", 1);
  static HostBackend instance;
  return instance;
}

class MatchRuleOnHost : public ::testing::TestWithParam<std::string> {};

TEST_P(MatchRuleOnHost, AcceptsHonestProgramsAndRejectsTheOthers) {
  testing::expect_verdict_in_name(backend(), GetParam());
}

INSTANTIATE_TEST_SUITE_P(Collection, MatchRuleOnHost, ::testing::ValuesIn(testing::match_rule_programs()),
                         testing::test_name);

}  // namespace
}  // namespace cudal1
