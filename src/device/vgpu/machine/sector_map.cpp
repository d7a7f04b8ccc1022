#include "device/vgpu/machine/sector_map.hpp"

namespace cudal1::vgpu {
namespace {

//! std::popcount is a call of a function a word where the host's processor is not known.
std::uint64_t bits_in(std::uint64_t word) {
  constexpr std::uint64_t ones = ~std::uint64_t{0};
  word -= word >> 1 & ones / 3;
  word = (word & ones / 5) + (word >> 2 & ones / 5);
  return ((word + (word >> 4)) & ones / 17) * (ones / 255) >> 56;
}

}  // namespace

void SectorMap::add(SectorMap& other) {
  for (std::size_t i = 0; i < chunks_.size(); ++i) {
    if (!other.chunks_[i]) continue;
    if (!chunks_[i])
      chunks_[i] = std::move(other.chunks_[i]);
    else
      for (std::size_t j = 0; j < chunks_[i]->size(); ++j) (*chunks_[i])[j] |= (*other.chunks_[i])[j];
  }
}

std::uint64_t SectorMap::marked() const {
  std::uint64_t sum = 0;
  for (const auto& chunk : chunks_)
    if (chunk)
      for (const std::uint64_t word : *chunk) sum += bits_in(word);
  return sum;
}

std::uint64_t SectorMap::marked_pairs() const {
  constexpr std::uint64_t evens = 0x5555555555555555u;
  std::uint64_t sum = 0;
  for (const auto& chunk : chunks_)
    if (chunk)
      for (const std::uint64_t word : *chunk) sum += bits_in((word | word >> 1) & evens);
  return sum;
}

}  // namespace cudal1::vgpu
