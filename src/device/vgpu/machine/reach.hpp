// A warp's way to memory, all lanes at once. In a header, so that every load and store has its own.
#pragma once

#include "device/vgpu/machine/warp.hpp"

namespace cudal1::vgpu {

inline std::uint64_t bytes_spanned(const AccessPattern& pattern) {
  return static_cast<std::uint64_t>(pattern.highest - pattern.lowest) + pattern.bytes;
}

inline std::uint64_t lowest_address(const AccessPattern& pattern, std::uint64_t first) {
  return first + static_cast<std::uint64_t>(pattern.lowest);
}

inline bool holds(const Segment& segment, std::uint64_t address, std::uint64_t bytes) {
  const std::uint64_t offset = address - segment.begin;
  return offset < segment.bytes && bytes <= segment.bytes - offset;
}

//! For reach_global_again().
inline void make_ready(AccessPattern& pattern) {
  const bool ready = pattern.mask == full_mask && pattern.aligned && pattern.sector_runs == 1;
  pattern.ready_bytes = ready ? pattern.bytes : 0;
  pattern.least_first = pattern.segment->begin - static_cast<std::uint64_t>(pattern.lowest);
  pattern.room = pattern.segment->bytes - bytes_spanned(pattern);
  pattern.least_host = pattern.segment->host - pattern.lowest;
}

//! Null where not all of it lies in one buffer.
__attribute__((always_inline)) inline std::byte* Warp::global_range(AccessPattern& pattern, std::uint64_t first,
                                                                    AccessKind kind, const Step& step) {
  const std::uint64_t lowest = lowest_address(pattern, first), bytes = bytes_spanned(pattern);
  if ((!pattern.segment || !holds(*pattern.segment, lowest, bytes)) && !find_segment(pattern, lowest, bytes))
    return nullptr;
  if (kind != AccessKind::read && !pattern.segment->writable) return nullptr;
  if (step.space == AddressSpace::constant) {
    if (block_.tally) block_.tally->constant(pattern);
  } else {
    if (block_.tally) block_.tally->global(pattern, first, kind);
    if (block_.tally && kind != AccessKind::atomic) make_ready(pattern);
    if (block_.observer) show(pattern, first, kind, step, &AccessObserver::global);
  }
  return pattern.segment->host + (first - pattern.segment->begin);
}

__attribute__((always_inline)) inline std::byte* Warp::shared_range(AccessPattern& pattern, std::uint64_t first,
                                                                    AccessKind kind, const Step& step) {
  const std::uint64_t lowest = lowest_address(pattern, first), bytes = bytes_spanned(pattern);
  const SharedArrays::Bounds& bounds = block_.shared_bounds[step.array];
  const std::uint64_t behind = lowest - bounds.begin;
  if (behind >= bounds.bytes || bytes > bounds.bytes - behind) return nullptr;
  if (block_.tally) block_.tally->shared(pattern, first);
  pattern.ready_bytes =
      block_.tally && pattern.mask == full_mask && pattern.bytes >= 4 && pattern.aligned ? pattern.bytes : 0;
  pattern.first_lowest = bounds.begin;
  pattern.lowest_room = bounds.bytes - bytes;
  if (block_.observer) show(pattern, first, kind, step, &AccessObserver::shared);
  return block_.shared.data() + first;
}

//! Mostly one comparison with what the same instruction did before, and one with the bounds of the buffer it went to.
//! What does not fit goes lane by lane, which also finds out whose fault it is.
__attribute__((always_inline)) inline Reach Warp::reach(const Step& step, Mask mask, std::uint32_t bytes,
                                                        AccessKind kind) {
  const auto* addresses = registers_.words<std::uint64_t>(step.operation.operands[0]);
  AccessPattern& pattern = block_.patterns[step.pattern * pattern_ways + pattern_way(mask)];
  const std::uint64_t base = addresses[mask == full_mask ? 0 : std::countr_zero(mask)];
  const std::uint64_t first = base + static_cast<std::uint64_t>(step.offset);
  const bool known = pattern.bytes == bytes && pattern.mask == mask &&
                     (step.address_repeated || matches(pattern, addresses, base, mask));
  if (!known && !learn(pattern, addresses, mask, bytes)) return reach_lanes(step, mask, bytes, kind);
  if (!pattern.aligned || (first & (bytes - 1)) != 0) return reach_lanes(step, mask, bytes, kind);
  std::byte* host = nullptr;
  if (step.space == AddressSpace::shared)
    host = shared_range(pattern, first, kind, step);
  else if (step.space == AddressSpace::generic && lowest_address(pattern, first) >= shared_window)
    host = shared_range(pattern, first - shared_window, kind, step);
  else if (step.space != AddressSpace::local)
    host = global_range(pattern, first, kind, step);
  if (!host) return reach_lanes(step, mask, bytes, kind);
  return {host, &pattern, nullptr};
}

__attribute__((always_inline)) inline Reach Warp::reach_shared_again(const Step& step, std::uint32_t bytes) {
  const auto* addresses = registers_.words<std::uint64_t>(step.operation.operands[0]);
  const AccessPattern& pattern = block_.patterns[step.pattern * pattern_ways + whole_warp_way];
  const std::uint64_t first = addresses[0] + static_cast<std::uint64_t>(step.offset);
  if (pattern.ready_bytes != bytes || (first & (bytes - 1)) != 0 ||
      lowest_address(pattern, first) - pattern.first_lowest > pattern.lowest_room)
    return {};
  if (!step.address_repeated && !matches(pattern, addresses, addresses[0], full_mask)) return {};
  block_.tally->shared_again(pattern);
  if (block_.observer)
    show(pattern, first, step.loads ? AccessKind::read : AccessKind::write, step, &AccessObserver::shared);
  return {block_.shared.data() + first, &pattern, nullptr};
}

__attribute__((always_inline)) inline Reach Warp::reach_global_again(const Step& step, std::uint32_t bytes,
                                                                     AccessKind kind) {
  const auto* addresses = registers_.words<std::uint64_t>(step.operation.operands[0]);
  const AccessPattern& pattern = block_.patterns[step.pattern * pattern_ways + whole_warp_way];
  const std::uint64_t first = addresses[0] + static_cast<std::uint64_t>(step.offset);
  const std::uint64_t behind = first - pattern.least_first;
  if (pattern.ready_bytes != bytes || first % sector_bytes != pattern.sector_phase || behind > pattern.room ||
      block_.tally->is_watching())
    return {};
  if (!step.address_repeated && !matches(pattern, addresses, addresses[0], full_mask)) return {};
  block_.tally->global_again(pattern, first, kind);
  if (block_.observer) show(pattern, first, kind, step, &AccessObserver::global);
  return {pattern.least_host + behind, &pattern, nullptr};
}

__attribute__((always_inline)) inline Reach Warp::reach_again(const Step& step, std::uint32_t bytes, AccessKind kind) {
  if (step.space == AddressSpace::shared) return reach_shared_again(step, bytes);
  return step.space == AddressSpace::global ? reach_global_again(step, bytes, kind) : Reach{};
}

}  // namespace cudal1::vgpu
