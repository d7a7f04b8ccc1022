#include "device/vgpu/checks/overlap_filter.hpp"

#include <algorithm>

namespace cudal1::vgpu {

OverlapFilter::OverlapFilter(std::uint64_t bytes) : read_(bytes / bytes_per_mark_word + 1), written_(read_.size()) {}

void OverlapFilter::clear() {
  std::ranges::fill(read_, 0);
  std::ranges::fill(written_, 0);
}

bool OverlapFilter::overlaps(const WarpAccess& access, LaneShape shape) {
  const std::uint64_t first = (*access.addresses)[0];
  if (shape == LaneShape::consecutive) return touch_range(access.kind, first, std::uint64_t{warp_size} * access.bytes);
  if (shape == LaneShape::same && access.kind == AccessKind::read)
    return touch(access.kind, first / bytes_per_mark_word, mark_bits(first, access.bytes));
  return touch_lanes(access);
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
  for (const std::uint64_t end = begin + bytes; begin < end;) {
    const std::uint64_t first = begin % bytes_per_mark_word, count = std::min(bytes_per_mark_word - first, end - begin);
    const std::uint64_t bits = (~std::uint64_t{0} >> (bytes_per_mark_word - count)) << first;
    overlap |= touch(kind, begin / bytes_per_mark_word, bits);
    begin += count;
  }
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
