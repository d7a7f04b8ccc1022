#include "device/vgpu/checks/overlap_filter.hpp"

#include <algorithm>

namespace cudal1::vgpu {

OverlapFilter::OverlapFilter(std::uint64_t bytes)
    : read_(bytes / bytes_per_mark_word + 1),
      written_(read_.size()),
      owners_(bytes / owned_bytes + 1, nobody),
      first_owned_(owners_.size()) {}

void OverlapFilter::clear() {
  std::ranges::fill(read_, 0);
  std::ranges::fill(written_, 0);
  if (first_owned_ < end_owned_)
    std::fill(owners_.begin() + static_cast<std::ptrdiff_t>(first_owned_),
              owners_.begin() + static_cast<std::ptrdiff_t>(end_owned_), nobody);
  first_owned_ = owners_.size();
  end_owned_ = 0;
}

bool OverlapFilter::overlaps(const WarpAccess& access, LaneShape shape) {
  const bool met = claim(access, shape), overlap = mark(access, shape);
  return met && overlap;
}

//! Whether another thread touched one of these words.
bool OverlapFilter::claim(const WarpAccess& access, LaneShape shape) {
  const std::uint32_t first_thread = 1 + access.warp * static_cast<std::uint32_t>(warp_size);
  const auto& addresses = *access.addresses;
  if (shape == LaneShape::consecutive && access.bytes == owned_bytes)
    return claim_row(addresses[0] / owned_bytes, first_thread);
  bool met = false;
  for (Mask rest = access.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
    met |= claim_lane(addresses[lane], access.bytes, access.bytes < owned_bytes ? many : first_thread + lane);
  }
  return met;
}

//! One word for each lane of a warp.
bool OverlapFilter::claim_row(std::uint64_t first_word, std::uint32_t first_thread) {
  first_owned_ = std::min(first_owned_, first_word);
  end_owned_ = std::max(end_owned_, first_word + warp_size);
  std::uint16_t* owners = owners_.data() + first_word;
  std::uint16_t met = 0;
  for (std::size_t i = 0; i < warp_size; ++i) {
    const auto thread = static_cast<std::uint16_t>(first_thread + i), owner = owners[i];
    const bool foreign = (owner != nobody) & (owner != thread);
    owners[i] = foreign ? many : thread;
    met |= foreign ? 1 : 0;
  }
  return met != 0;
}

bool OverlapFilter::claim_lane(std::uint64_t address, std::uint32_t bytes, std::uint32_t thread) {
  const std::uint64_t first = address / owned_bytes, end = (address + bytes + owned_bytes - 1) / owned_bytes;
  first_owned_ = std::min(first_owned_, first);
  end_owned_ = std::max(end_owned_, end);
  bool met = thread == many;
  for (std::uint64_t word = first; word < end; ++word) {
    std::uint16_t& owner = owners_[word];
    const bool foreign = owner != nobody && owner != thread;
    owner = foreign ? many : static_cast<std::uint16_t>(thread);
    met |= foreign;
  }
  return met;
}

//! Lanes that write to one place overlap.
bool OverlapFilter::mark(const WarpAccess& access, LaneShape shape) {
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
