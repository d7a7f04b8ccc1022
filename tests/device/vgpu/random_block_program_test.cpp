#include "random_block_program.hpp"

#include <gtest/gtest.h>

#include "base/random.hpp"

namespace cudal1::vgpu {
namespace {

#ifdef CUDAL1_SANITIZED
constexpr int programs = 2'000;
#else
constexpr int programs = 20'000;
#endif

TEST(RandomBlockPrograms, TheMachineAndTheOracleAgree) {
  Random random(20261116);
  const Choose choose = [&](std::uint64_t bound) { return random.below(bound); };
  for (int i = 0; i < programs; ++i) {
    const std::string problem = try_random_block_program(choose);
    ASSERT_EQ(problem, "") << "program " << i;
  }
}

}  // namespace
}  // namespace cudal1::vgpu
