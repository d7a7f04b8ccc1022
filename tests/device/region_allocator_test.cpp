#include "device/ops/region_allocator.hpp"

#include <gtest/gtest.h>

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

TEST(RegionAllocator, RefusesWhatDoesNotFitAndIgnoresForeignAddresses) {
  std::vector<std::byte> memory(8 * RegionAllocator::alignment);
  RegionAllocator allocator;
  allocator.reset(memory.data(), memory.size());
  EXPECT_EQ(allocator.allocate(memory.size() + 1), nullptr);
  int elsewhere = 0;
  allocator.free(&elsewhere);
  EXPECT_EQ(allocator.in_use(), 0u);
}

}  // namespace
}  // namespace cudal1
