#include "random_program.hpp"

#include <gtest/gtest.h>

#include "base/random.hpp"

namespace cudal1::vgpu {
namespace {

constexpr int programs = 100'000;

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
