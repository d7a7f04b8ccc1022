#include "device/vgpu/machine/block_reads.hpp"

#include <algorithm>
#include <bit>

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

void BlockReads::read(std::size_t segment, std::uint64_t first_sector, std::uint64_t count) {
  asked_ += count;
  for (std::uint64_t i = 0; i < count; ++i) note_recent(key_of(segment, first_sector + i));
  for (std::uint64_t here = 0; count > 0; first_sector += here, count -= here) {
    here = std::min(count, 64 - first_sector % 64);
    note_seen(segment, first_sector, (~std::uint64_t{0} >> (64 - here)) << first_sector % 64);
  }
}

void BlockReads::note_recent(std::uint64_t key) {
  std::uint64_t& recent = recent_[place_of(key)];
  repeated_soon_ += recent == key ? 1 : 0;
  recent = key;
}

//! `sectors`: bits of the word that this one lies in.
void BlockReads::note_seen(std::size_t segment, std::uint64_t sector, std::uint64_t sectors) {
  std::uint64_t& word = seen_[segment].word(sector);
  if (word == 0) touched_.push_back({segment, sector});
  distinct_ += static_cast<std::uint64_t>(std::popcount(sectors & ~word));
  word |= sectors;
}

void BlockReads::add(const BlockReads& other) {
  asked_ += other.asked_;
  distinct_ += other.distinct_;
  repeated_soon_ += other.repeated_soon_;
}

}  // namespace cudal1::vgpu
