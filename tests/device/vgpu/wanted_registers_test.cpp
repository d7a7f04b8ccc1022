#include "device/vgpu/ptx/wanted_registers.hpp"

#include <gtest/gtest.h>

namespace cudal1::vgpu {
namespace {

struct Part {
  std::vector<std::size_t> writes, reads, next;
};

std::vector<RegisterSet> wanted_in(const std::vector<Part>& program, std::size_t registers) {
  return registers_wanted(
      program.size(), registers,
      [&](std::size_t part, auto visit) {
        for (const std::size_t next : program[part].next) visit(next);
      },
      [&](std::size_t part, RegisterSet& wanted) {
        for (const std::size_t written : program[part].writes) wanted.erase(written);
        for (const std::size_t read : program[part].reads) wanted.insert(read);
      });
}

std::vector<std::size_t> members(const RegisterSet& set) {
  std::vector<std::size_t> all;
  set.for_each([&](std::size_t number) { all.push_back(number); });
  return all;
}

using Numbers = std::vector<std::size_t>;

TEST(WantedRegisters, AreThoseReadLaterBeforeTheyAreWrittenAgain) {
  const auto before = wanted_in({{{0}, {}, {1}}, {{1}, {0}, {2}}, {{0}, {}, {3}}, {{}, {0, 1}, {}}}, 2);
  EXPECT_EQ(members(before[0]), Numbers{});
  EXPECT_EQ(members(before[1]), Numbers{0});
  EXPECT_EQ(members(before[2]), Numbers{1});
  EXPECT_EQ(members(before[3]), (Numbers{0, 1}));
}

TEST(WantedRegisters, StayWantedRoundALoopThatReadsThemAtItsTop) {
  // 0: r0, r70 = …; 1: r1 = r0 (top of the loop); 2: r2 = r1, back to 1 or on; 3: reads r70
  const auto before = wanted_in({{{0, 70}, {}, {1}}, {{1}, {0}, {2}}, {{2}, {1}, {1, 3}}, {{}, {70}, {}}}, 71);
  EXPECT_EQ(members(before[1]), (Numbers{0, 70}));
  EXPECT_EQ(members(before[2]), (Numbers{0, 1, 70}));
  EXPECT_EQ(members(before[3]), Numbers{70});
}

TEST(WantedRegisters, OfBothWaysOfABranchAreWanted) {
  const auto before = wanted_in({{{}, {}, {1, 2}}, {{}, {0}, {}}, {{}, {1}, {}}}, 2);
  EXPECT_EQ(members(before[0]), (Numbers{0, 1}));
}

}  // namespace
}  // namespace cudal1::vgpu
