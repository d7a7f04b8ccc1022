#include "device/ops/region_allocator.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

namespace cudal1 {
namespace {

TEST(RegionAllocator, GivesAlignedPiecesThatDoNotOverlapAndTakesThemBack) {
  std::vector<std::byte> memory(64 * RegionAllocator::alignment);
  RegionAllocator allocator;
  allocator.reset(memory.data(), memory.size());
  std::vector<void*> pieces;
  while (void* piece = allocator.allocate(700)) pieces.push_back(piece);
  EXPECT_EQ(pieces.size(), 32u);  // 700 bytes take two units
  for (std::size_t i = 1; i < pieces.size(); ++i)
    EXPECT_GE(static_cast<std::byte*>(pieces[i]) - static_cast<std::byte*>(pieces[i - 1]), 1024);
  for (void* piece : pieces) allocator.free(piece);
  EXPECT_EQ(allocator.in_use(), 0u);
  EXPECT_NE(allocator.allocate(memory.size()), nullptr) << "freed neighbours must merge";
}

TEST(RegionAllocator, PiecesRoamAlsoAroundOneThatStays) {
  constexpr std::size_t unit = RegionAllocator::alignment;
  std::vector<std::byte> memory(512 * unit);
  RegionAllocator allocator;
  allocator.reset(memory.data(), memory.size());
  allocator.vary(17, 64 * unit);
  ASSERT_NE(allocator.allocate(33 * unit), nullptr);  // a workspace that the library keeps
  std::map<void*, int> places;
  constexpr int calls = 2000;
  for (std::uint64_t call = 0; call < calls; ++call) {
    allocator.vary(call * 0x9e3779b97f4a7c15u, 64 * unit);
    void* first = allocator.allocate(16 * unit);
    void* second = allocator.allocate(4 * unit);
    ASSERT_TRUE(first && second);
    ++places[first];
    allocator.free(first);
    allocator.free(second);
  }
  int commonest = 0;
  for (const auto& [place, times] : places) commonest = std::max(commonest, times);
  EXPECT_GT(places.size(), 50u);
  EXPECT_LT(commonest, calls / 20);
  EXPECT_EQ(allocator.in_use(), 33 * unit);
}

TEST(RegionAllocator, RefusesWhatDoesNotFitAndIgnoresForeignAddresses) {
  std::vector<std::byte> memory(8 * RegionAllocator::alignment);
  RegionAllocator allocator;
  allocator.reset(memory.data(), memory.size());
  EXPECT_EQ(allocator.allocate(memory.size() + 1), nullptr);
  int elsewhere = 0;
  allocator.free(&elsewhere);
  EXPECT_EQ(allocator.in_use(), 0u);
}

TEST(RegionAllocator, GivesWhatOneStreamFreedToNoOtherWhileTheyAreKeptApart) {
  constexpr std::size_t unit = RegionAllocator::alignment;
  std::vector<std::byte> memory(64 * unit);
  RegionAllocator allocator;
  allocator.reset(memory.data(), memory.size());
  const int one = 0, other = 0;
  allocator.keep_apart(true);
  void* first = allocator.allocate(8 * unit, &one);
  allocator.free(first, &one);
  EXPECT_NE(allocator.allocate(8 * unit, &other), first);
  EXPECT_NE(allocator.allocate(2 * unit, &one), first) << "far too large for that";
  EXPECT_EQ(allocator.allocate(7 * unit, &one), first);
  EXPECT_NE(allocator.allocate(7 * unit, &one), first) << "given twice";
  allocator.free(first, &one);
  allocator.keep_apart(false);
  EXPECT_EQ(allocator.in_use(), 17 * unit);
  allocator.keep_apart(true);
  while (void* piece = allocator.allocate(unit, &other)) ASSERT_TRUE(memory.data() <= piece);
  EXPECT_EQ(allocator.in_use(), memory.size()) << "what was kept is free again";
}

}  // namespace
}  // namespace cudal1
