#include "device/vgpu/machine/access_pattern.hpp"

#include <algorithm>
#include <limits>

#include "device/vgpu/machine/arithmetic_lanes.hpp"

namespace cudal1::vgpu {
namespace {

__attribute__((always_inline)) inline bool compare(const AccessPattern& pattern, const std::uint64_t* addresses,
                                                   std::uint64_t first, Mask mask) {
  std::uint64_t difference = 0;
  if (mask == full_mask) {
    for (std::size_t lane = 0; lane < warp_size; ++lane)
      difference |= (addresses[lane] - first) ^ static_cast<std::uint64_t>(std::int64_t{pattern.deltas[lane]});
  } else {
    for (std::size_t lane = 0; lane < warp_size; ++lane) {
      const std::uint64_t address = (mask & lane_bits[lane]) != 0 ? addresses[lane] : first;
      difference |= (address - first) ^ static_cast<std::uint64_t>(std::int64_t{pattern.deltas[lane]});
    }
  }
  return difference == 0;
}

bool compare_plain(const AccessPattern& pattern, const std::uint64_t* addresses, std::uint64_t first, Mask mask) {
  return compare(pattern, addresses, first, mask);
}
CUDAL1_WIDE_VECTORS bool compare_wide(const AccessPattern& pattern, const std::uint64_t* addresses, std::uint64_t first,
                                      Mask mask) {
  return compare(pattern, addresses, first, mask);
}

const auto best_compare = host_has_wide_vectors() ? &compare_wide : &compare_plain;

bool is_stride(const AccessPattern& pattern, std::size_t begin, std::size_t end, std::int32_t stride) {
  for (std::size_t lane = begin + 1; lane < end; ++lane)
    if (pattern.deltas[lane] - pattern.deltas[lane - 1] != stride) return false;
  return true;
}

Shape shape_by_eights(AccessPattern& pattern) {
  for (std::size_t eight = 0; eight < 4; ++eight) {
    pattern.same_in_eight[eight] = is_stride(pattern, 8 * eight, 8 * eight + 8, 0);
    if (!pattern.same_in_eight[eight] &&
        !is_stride(pattern, 8 * eight, 8 * eight + 8, static_cast<std::int32_t>(pattern.bytes)))
      return Shape::scattered;
  }
  return Shape::by_eights;
}

Shape shape_of(AccessPattern& pattern) {
  if (pattern.mask != full_mask) return Shape::scattered;
  if (is_stride(pattern, 0, warp_size, 0)) return Shape::same;
  if (is_stride(pattern, 0, warp_size, static_cast<std::int32_t>(pattern.bytes))) return Shape::consecutive;
  return shape_by_eights(pattern);
}

//! Lanes `begin` to `end` at once: how many different words the busiest bank has to give.
std::uint32_t passes_of(const AccessPattern& pattern, std::uint64_t first, std::size_t begin, std::size_t end) {
  std::array<std::uint64_t, 2 * warp_size> words;
  std::size_t count = 0;
  for (std::size_t lane = begin; lane < end; ++lane) {
    if ((pattern.mask & lane_bits[lane]) == 0) continue;
    const std::uint64_t address = first + static_cast<std::uint64_t>(std::int64_t{pattern.deltas[lane]});
    for (std::uint64_t byte = 0; byte < pattern.bytes; byte += 4) words[count++] = (address + byte) / 4;
  }
  count = sort_and_unite(words.data(), count);
  std::array<std::uint32_t, 32> wanted{};
  for (std::size_t i = 0; i < count; ++i) ++wanted[words[i] % 32];
  return *std::ranges::max_element(wanted);
}

}  // namespace

bool matches(const AccessPattern& pattern, const std::uint64_t* addresses, std::uint64_t first, Mask mask) {
  return pattern.mask == mask && best_compare(pattern, addresses, first, mask);
}

bool learn(AccessPattern& pattern, const std::uint64_t* addresses, Mask mask, std::uint32_t bytes) {
  const std::uint64_t first = addresses[std::countr_zero(mask)];
  pattern = {.mask = mask,
             .bytes = bytes,
             .lanes = static_cast<std::uint32_t>(std::popcount(mask)),
             .segment = pattern.segment,
             .segment_index = pattern.segment_index};
  std::uint32_t misaligned = 0;
  for (Mask rest = mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(rest));
    const auto delta = static_cast<std::int64_t>(addresses[lane] - first);
    if (delta > std::numeric_limits<std::int32_t>::max() / 2 || delta < std::numeric_limits<std::int32_t>::min() / 2) {
      pattern.mask = 0;
      return false;
    }
    pattern.deltas[lane] = static_cast<std::int32_t>(delta);
    pattern.lowest = std::min(pattern.lowest, pattern.deltas[lane]);
    pattern.highest = std::max(pattern.highest, pattern.deltas[lane]);
    misaligned |= static_cast<std::uint32_t>(delta) & (bytes - 1);
  }
  pattern.aligned = misaligned == 0;
  pattern.shape = shape_of(pattern);
  return true;
}

//! The banks turn with the first address, so only its place in a word matters.
std::uint32_t shared_passes(AccessPattern& pattern, std::uint64_t first) {
  if (pattern.shared_passes != 0 && pattern.word_phase == first % 4) return pattern.shared_passes;
  const std::size_t parts = pattern.bytes <= 4 ? 1 : pattern.bytes / 4, lanes = warp_size / parts;
  std::uint32_t passes = 0;
  for (std::size_t part = 0; part < parts; ++part)
    passes += passes_of(pattern, first, part * lanes, (part + 1) * lanes);
  pattern.word_phase = static_cast<std::uint8_t>(first % 4);
  pattern.shared_passes = static_cast<std::uint8_t>(passes);
  return passes;
}

void count_sectors(AccessPattern& pattern, std::uint64_t first) {
  std::array<std::uint64_t, warp_size> sectors;
  std::size_t count = 0;
  for (Mask rest = pattern.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(rest));
    sectors[count++] = (first + static_cast<std::uint64_t>(std::int64_t{pattern.deltas[lane]})) / sector_bytes;
  }
  count = sort_and_unite(sectors.data(), count);
  pattern.sectors = static_cast<std::uint8_t>(count);
  pattern.sector_phase = static_cast<std::uint8_t>(first % sector_bytes);
  pattern.sectors_in_a_row = sectors[count - 1] - sectors[0] == count - 1;
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
