#include "device/vgpu/checks/overlap_filter.hpp"

#include <algorithm>

namespace cudal1::vgpu {

OverlapFilter::OverlapFilter(std::uint64_t bytes) : read_(bytes / bytes_per_mark_word + 1), written_(read_.size()) {}

void OverlapFilter::clear() {
  std::ranges::fill(read_, 0);
  std::ranges::fill(written_, 0);
}

//! Lanes that write to one place overlap.
bool OverlapFilter::overlaps(const WarpAccess& access, LaneShape shape) {
  const bool together = shape == LaneShape::same || shape == LaneShape::same_by_eights;
  if (shape == LaneShape::scattered || (together && access.kind != AccessKind::read)) return touch_lanes(access);
  bool overlap = false;
  for_each_part(access, shape, [&](std::uint64_t address, std::uint64_t bytes) {
    overlap |= touch_range(access.kind, address, bytes);
  });
  return overlap;
}

bool OverlapFilter::touch(AccessKind kind, std::uint64_t word, std::uint64_t bits) {
  if (kind == AccessKind::read) {
    read_[word] |= bits;
    return (written_[word] & bits) != 0;
  }
  const bool overlap = ((read_[word] | written_[word]) & bits) != 0;
  written_[word] |= bits;
  return overlap;
}

bool OverlapFilter::touch_range(AccessKind kind, std::uint64_t begin, std::uint64_t bytes) {
  bool overlap = false;
  for_each_mark_word(begin, bytes, [&](std::uint64_t address, std::uint64_t bits) {
    overlap |= touch(kind, address / bytes_per_mark_word, bits);
  });
  return overlap;
}

bool OverlapFilter::touch_lanes(const WarpAccess& access) {
  bool overlap = false;
  if (access.kind == AccessKind::read) return read_lanes(access);
  for (Mask rest = access.mask; rest != 0; rest &= rest - 1) {
    const std::uint64_t address = (*access.addresses)[static_cast<std::size_t>(std::countr_zero(rest))];
    overlap |= touch(access.kind, address / bytes_per_mark_word, mark_bits(address, access.bytes));
  }
  return overlap;
}

//! Lanes that read may meet, so neighbours in one word count as one.
bool OverlapFilter::read_lanes(const WarpAccess& access) {
  bool overlap = false;
  std::uint64_t word = 0, bits = 0;
  for (Mask rest = access.mask; rest != 0; rest &= rest - 1) {
    const std::uint64_t address = (*access.addresses)[static_cast<std::size_t>(std::countr_zero(rest))];
    if (address / bytes_per_mark_word != word) {
      overlap |= touch(AccessKind::read, word, bits);
      word = address / bytes_per_mark_word;
      bits = 0;
    }
    bits |= mark_bits(address, access.bytes);
  }
  return touch(AccessKind::read, word, bits) || overlap;
}

}  // namespace cudal1::vgpu
