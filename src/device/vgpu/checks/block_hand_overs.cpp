#include "device/vgpu/checks/block_hand_overs.hpp"

namespace cudal1::vgpu {

BlockHandOvers::~BlockHandOvers() {
  for (const std::atomic<Row*>& made : rows_) delete made.load();
}

//! Only the block itself makes its row; others look at it.
BlockHandOvers::Row& BlockHandOvers::row(std::uint32_t block) {
  if (Row* made = rows_[block].load()) return *made;
  rows_[block] = new Row;
  return *rows_[block].load();
}

//! The tick comes after the row is filled, and before the block makes its access: who has seen the access sees both.
std::uint32_t BlockHandOvers::give(std::uint32_t block, std::uint32_t places, std::uint32_t fences) {
  for (std::size_t place = 0; place < place_count; ++place)
    if ((places >> place & 1) != 0) row(block).fences_given[place] = fences;
  return ++tick_;
}

void BlockHandOvers::take(std::uint32_t block, std::uint32_t places) {
  const std::uint32_t now = tick_;
  if (now == 0) return;  // nobody gave anything
  for (std::size_t place = 0; place < place_count; ++place)
    if ((places >> place & 1) != 0) row(block).tick_taken[place] = now;
}

bool BlockHandOvers::before(std::uint32_t giver, const Moment& moment, std::uint32_t taker) const {
  const Row *gave = rows_[giver], *took = rows_[taker];
  if (!gave || !took) return false;
  for (std::size_t place = 0; place < place_count; ++place)
    if (gave->fences_given[place] > moment.fences && took->tick_taken[place] > moment.tick) return true;
  return false;
}

}  // namespace cudal1::vgpu
