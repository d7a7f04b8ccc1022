#include "train/stages/turns.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/result.hpp"

namespace cudal1 {
namespace {

TEST(TurnsTest, EveryoneComesOnceBeforeAnybodyComesAgain) {
  std::vector<std::size_t> all;
  for (std::int64_t step = 0; step < 10; ++step)
    for (const std::size_t turn : turns_of_step(7, 3, step, 5)) all.push_back(turn);
  for (std::size_t round = 0; round + 7 <= all.size(); round += 7)
    EXPECT_EQ(
        std::set(all.begin() + static_cast<std::ptrdiff_t>(round), all.begin() + static_cast<std::ptrdiff_t>(round) + 7)
            .size(),
        7u);
}

TEST(TurnsTest, OrderChangesFromRoundToRoundAndWithTheSeed) {
  EXPECT_NE(turns_of_step(20, 20, 0, 1), turns_of_step(20, 20, 1, 1));
  EXPECT_NE(turns_of_step(20, 20, 0, 1), turns_of_step(20, 20, 0, 2));
  EXPECT_EQ(turns_of_step(20, 4, 3, 1), turns_of_step(20, 4, 3, 1));
}

TEST(TurnsTest, WiderThanThereAreTakesSomeTwice) {
  const std::vector<std::size_t> turns = turns_of_step(2, 5, 0, 1);
  ASSERT_EQ(turns.size(), 5u);
  EXPECT_EQ(std::ranges::count(turns, 0u) + std::ranges::count(turns, 1u), 5);
  EXPECT_THROW(turns_of_step(0, 1, 0, 1), Error);
}

TEST(TurnsTest, SeedsOfDifferentPlacesDiffer) {
  std::set<std::uint64_t> seeds;
  for (std::uint64_t run = 0; run < 4; ++run)
    for (std::uint64_t step = 0; step < 8; ++step)
      for (std::uint64_t group = 0; group < 8; ++group) seeds.insert(seed_of(run, {step, group}));
  EXPECT_EQ(seeds.size(), 4u * 8u * 8u);
  EXPECT_NE(seed_of(1, {2, 3}), seed_of(1, {3, 2}));
}

}  // namespace
}  // namespace cudal1
