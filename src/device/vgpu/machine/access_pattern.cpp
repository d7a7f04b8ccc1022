#include "device/vgpu/machine/access_pattern.hpp"

#include <algorithm>
#include <limits>

namespace cudal1::vgpu {
namespace {

bool is_stride(const AccessPattern& pattern, std::size_t begin, std::size_t end, std::int64_t stride) {
  for (std::size_t lane = begin + 1; lane < end; ++lane)
    if (pattern.deltas[lane] - pattern.deltas[lane - 1] != stride) return false;
  return true;
}

bool is_stride_by_eights(const AccessPattern& pattern, std::int64_t stride) {
  for (std::size_t eight = 0; eight < warp_size; eight += 8)
    if (!is_stride(pattern, eight, eight + 8, stride)) return false;
  return true;
}

LaneShape shape_of(const AccessPattern& pattern) {
  if (pattern.mask != full_mask) return LaneShape::scattered;
  if (is_stride(pattern, 0, warp_size, 0)) return LaneShape::same;
  if (is_stride(pattern, 0, warp_size, pattern.bytes)) return LaneShape::consecutive;
  if (is_stride_by_eights(pattern, 0)) return LaneShape::same_by_eights;
  return is_stride_by_eights(pattern, pattern.bytes) ? LaneShape::consecutive_by_eights : LaneShape::scattered;
}

//! Lanes `begin` to `end` at once: how many different words the busiest bank has to give.
std::uint32_t passes_of(const AccessPattern& pattern, std::uint64_t first, std::uint32_t bytes, std::size_t begin,
                        std::size_t end) {
  std::array<std::uint64_t, 4 * warp_size> words;
  std::size_t count = 0;
  for (std::size_t lane = begin; lane < end; ++lane) {
    if ((pattern.mask & lane_bits[lane]) == 0) continue;
    const std::uint64_t address = first + static_cast<std::uint64_t>(pattern.deltas[lane]);
    for (std::uint64_t byte = 0; byte < bytes; byte += 4) words[count++] = (address + byte) / 4;
  }
  count = sort_and_unite(words.data(), count);
  std::array<std::uint32_t, 32> wanted{};
  for (std::size_t i = 0; i < count; ++i) ++wanted[words[i] % 32];
  return *std::ranges::max_element(wanted);
}

//! Lanes that differ in this bit of their number have the same address.
bool is_shared_by(const AccessPattern& pattern, std::size_t bit) {
  for (std::size_t lane = 0; lane < warp_size; ++lane) {
    if ((pattern.mask & lane_bits[lane]) == 0 || (pattern.mask & lane_bits[lane ^ bit]) == 0) continue;
    if (pattern.deltas[lane] != pattern.deltas[lane ^ bit]) return false;
  }
  return true;
}

std::uint32_t all_passes(const AccessPattern& pattern, std::uint64_t first, std::uint32_t bytes) {
  std::size_t parts = bytes <= 4 ? 1 : bytes / 4;
  if (parts > 1 && (is_shared_by(pattern, 1) || is_shared_by(pattern, 2))) parts /= 2;
  const std::size_t lanes = warp_size / parts;
  std::uint32_t passes = 0;
  for (std::size_t part = 0; part < parts; ++part)
    passes += passes_of(pattern, first, bytes, part * lanes, (part + 1) * lanes);
  return passes;
}

}  // namespace

bool learn(AccessPattern& pattern, const std::uint64_t* addresses, Mask mask, std::uint32_t bytes) {
  const std::uint64_t first = addresses[std::countr_zero(mask)];
  pattern = {.mask = mask,
             .bytes = bytes,
             .lanes = static_cast<std::uint32_t>(lanes_in(mask)),
             .segment = pattern.segment,
             .segment_index = pattern.segment_index};
  std::uint32_t misaligned = 0;
  for (Mask rest = mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(rest));
    const auto delta = static_cast<std::int64_t>(addresses[lane] - first);
    if (delta > std::numeric_limits<std::int64_t>::max() / 2 || delta < std::numeric_limits<std::int64_t>::min() / 2) {
      pattern.mask = 0;
      return false;
    }
    pattern.deltas[lane] = delta;
    pattern.lowest = std::min(pattern.lowest, pattern.deltas[lane]);
    pattern.highest = std::max(pattern.highest, pattern.deltas[lane]);
    misaligned |= static_cast<std::uint32_t>(delta) & (bytes - 1);
  }
  pattern.aligned = misaligned == 0;
  pattern.shape = shape_of(pattern);
  return true;
}

//! The banks turn with the first address, so only its place in a word matters.
void count_shared_passes(AccessPattern& pattern, std::uint64_t first) {
  const std::uint32_t passes = all_passes(pattern, first, pattern.bytes);
  pattern.word_phase = static_cast<std::uint8_t>(first % 4);
  pattern.shared_passes = static_cast<std::uint8_t>(passes);
  pattern.shared_quad_passes =
      static_cast<std::uint8_t>(pattern.bytes == 4 ? all_passes(pattern, first, 16) : 4 * passes);
}

std::uint32_t constant_addresses(const AccessPattern& pattern) {
  std::array<std::uint64_t, warp_size> addresses;
  std::size_t count = 0;
  for (Mask rest = pattern.mask; rest != 0; rest &= rest - 1)
    addresses[count++] = static_cast<std::uint64_t>(pattern.deltas[static_cast<std::size_t>(std::countr_zero(rest))]);
  count = sort_and_unite(addresses.data(), count);
  return count > 1 ? static_cast<std::uint32_t>(count) : 0;
}

void count_sectors(AccessPattern& pattern, std::uint64_t first) {
  std::array<std::uint64_t, warp_size> sectors;
  std::size_t count = 0;
  for (Mask rest = pattern.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(rest));
    sectors[count++] = (first + static_cast<std::uint64_t>(pattern.deltas[lane])) / sector_bytes;
  }
  count = sort_and_unite(sectors.data(), count);
  pattern.sectors = static_cast<std::uint8_t>(count);
  pattern.sector_phase = static_cast<std::uint8_t>(first % sector_bytes);
  pattern.sector_runs = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const bool follows = i > 0 && sectors[i] == sectors[i - 1] + 1;
    if (!follows)
      pattern.runs[pattern.sector_runs++] = {static_cast<std::int32_t>(sectors[i] - first / sector_bytes), 0};
    ++pattern.runs[pattern.sector_runs - 1u].count;
  }
}

std::uint32_t local_sectors(const std::array<std::uint64_t, warp_size>& addresses, Mask mask, std::uint32_t bytes) {
  std::array<std::uint64_t, 4 * warp_size> sectors;
  std::size_t count = 0;
  for (Mask rest = mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(rest));
    for (std::uint64_t byte = 0; byte < bytes; byte += 4)
      sectors[count++] = ((addresses[lane] + byte) / 4 * warp_size + lane) * 4 / sector_bytes;
  }
  return static_cast<std::uint32_t>(sort_and_unite(sectors.data(), count));
}

std::size_t sort_and_unite(std::uint64_t* numbers, std::size_t count) {
  if (!std::is_sorted(numbers, numbers + count)) std::sort(numbers, numbers + count);
  return static_cast<std::size_t>(std::unique(numbers, numbers + count) - numbers);
}

}  // namespace cudal1::vgpu
