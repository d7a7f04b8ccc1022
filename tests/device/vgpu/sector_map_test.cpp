#include "device/vgpu/machine/sector_map.hpp"

#include <gtest/gtest.h>

namespace cudal1::vgpu {
namespace {

constexpr std::uint64_t many = 1 << 20;

TEST(SectorMap, CountsEachSectorOnce) {
  SectorMap map(many);
  map.mark(60, 10);  // over the end of a word
  map.mark(65, 3);
  map.mark((1 << 14) - 1, 2);  // over the end of a chunk
  map.mark(many - 1, 1);
  EXPECT_EQ(map.marked(), 13u);
}

TEST(SectorMap, PairsBeginWithAnEvenSector) {
  SectorMap map(many);
  map.mark(3, 2);
  map.mark(100, 2);
  EXPECT_EQ(map.marked(), 4u);
  EXPECT_EQ(map.marked_pairs(), 3u);
}

TEST(SectorMap, TakesWhatAnotherHas) {
  SectorMap one(many), other(many);
  one.mark(0, 4);
  other.mark(2, 4);
  other.mark(1 << 16, 64);
  one.add(other);
  EXPECT_EQ(one.marked(), 6u + 64u);
}

}  // namespace
}  // namespace cudal1::vgpu
