#include "device/vgpu/machine/block_reads.hpp"

namespace cudal1::vgpu {
namespace {

//! Never zero: that is an empty place.
std::uint64_t key_of(std::size_t segment, std::uint64_t sector) { return (std::uint64_t{segment + 1} << 48) | sector; }

std::size_t place_of(std::uint64_t key) { return static_cast<std::size_t>((key * 0x9e3779b97f4a7c15u) >> 56); }

}  // namespace

void BlockReads::begin_block(bool watched) {
  watching_ = watched;
  if (!watched || !seen_.empty()) return;
  for (const std::uint64_t sectors : sectors_) seen_.emplace_back(sectors);
}

void BlockReads::end_block() {
  watching_ = false;
  if (touched_.empty()) return;
  for (const Word& word : touched_) seen_[word.segment].word(word.sector) = 0;
  touched_.clear();
  recent_.fill(0);
}

void BlockReads::read_one(std::size_t segment, std::uint64_t sector) {
  const std::uint64_t key = key_of(segment, sector);
  std::uint64_t& recent = recent_[place_of(key)];
  std::uint64_t& word = seen_[segment].word(sector);
  const std::uint64_t bit = std::uint64_t{1} << sector % 64;
  ++asked_;
  if (recent == key) ++repeated_soon_;
  if ((word & bit) == 0) ++distinct_;
  if (word == 0) touched_.push_back({segment, sector});
  recent = key;
  word |= bit;
}

void BlockReads::read(std::size_t segment, std::uint64_t first_sector, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) read_one(segment, first_sector + i);
}

void BlockReads::add(const BlockReads& other) {
  asked_ += other.asked_;
  distinct_ += other.distinct_;
  repeated_soon_ += other.repeated_soon_;
}

}  // namespace cudal1::vgpu
