#include "random_program.hpp"

#include <gtest/gtest.h>

#include "base/random.hpp"

namespace cudal1::vgpu {
namespace {

#ifdef CUDAL1_SANITIZED
constexpr int programs = 5'000;  // ten times as slow
#else
constexpr int programs = 100'000;
#endif

TEST(RandomPrograms, TheMachineAndTheOracleAgree) {
  Random random(20261115);
  const Choose choose = [&](std::uint64_t bound) { return random.below(bound); };
  for (int i = 0; i < programs; ++i) {
    const std::string problem = try_random_program(choose);
    ASSERT_EQ(problem, "") << "program " << i;
  }
}

}  // namespace
}  // namespace cudal1::vgpu
