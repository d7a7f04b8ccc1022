#include "judge/placement.hpp"

#include <algorithm>

namespace cudal1 {
namespace {

constexpr std::uint64_t alignment = 512;  // what PyTorch's allocator gives, so kernels may rely on it
constexpr std::uint64_t red_zone_bytes = 4096;
constexpr std::uint64_t longest_random_gap = 64 * 1024;
constexpr std::uint64_t absurd = std::uint64_t{1} << 60;

std::uint64_t aligned(std::uint64_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

std::uint64_t add(std::uint64_t a, std::uint64_t b) {
  return std::min(absurd, std::min(absurd, a) + std::min(absurd, b));
}

//! Memory that the judge places; what op steps allocate only needs a place when it is an output.
bool has_place(const Buffer& buffer) { return !buffer.allocated_by_op || buffer.role == BufferRole::output; }

Zone zone_for(const Plan& plan, bool moving, std::uint64_t offset, std::uint64_t roaming) {
  std::uint64_t bytes = red_zone_bytes + roaming;
  for (const Buffer& buffer : plan.buffers)
    if (has_place(buffer) && moves_with_every_call(buffer.role) == moving)
      bytes = add(bytes, add(aligned(static_cast<std::uint64_t>(buffer.meta.span_bytes())),
                             2 * red_zone_bytes + longest_random_gap));
  return {offset, aligned(bytes)};
}

//! So many steps of the way through the roaming bytes, in order.
std::vector<std::uint64_t> stations(std::size_t count, std::uint64_t roaming, Random& random) {
  std::vector<std::uint64_t> result;
  for (std::size_t i = 0; i < count; ++i) result.push_back(random.below(roaming / alignment + 1) * alignment);
  std::sort(result.begin(), result.end());
  return result;
}

}  // namespace

bool moves_with_every_call(BufferRole role) { return role == BufferRole::input || role == BufferRole::output; }

ArenaPlan plan_arena(const Plan& plan, std::uint64_t region_bytes, std::uint64_t roaming) {
  ArenaPlan arena;
  arena.roaming = roaming;
  arena.op_region = {0, aligned(region_bytes)};
  arena.fixed = zone_for(plan, false, arena.op_region.bytes, roaming);
  arena.moving = zone_for(plan, true, add(arena.fixed.offset, arena.fixed.bytes), roaming);
  return arena;
}

std::vector<Gap> place_buffers(const Plan& plan, const ArenaPlan& arena, bool moving, Random& random,
                               BufferOffsets& offsets) {
  const Zone& zone = moving ? arena.moving : arena.fixed;
  offsets.resize(plan.buffers.size(), no_offset);
  std::vector<Gap> gaps;
  std::uint64_t end_of_last = zone.offset, roamed = 0;
  const auto is_here = [&](const Buffer& b) { return has_place(b) && moves_with_every_call(b.role) == moving; };
  // As many as there are buffers in this zone: with more, the first would stay near the front.
  const auto count = static_cast<std::size_t>(std::ranges::count_if(plan.buffers, is_here));
  const auto ways = stations(count, arena.roaming, random);
  for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
    const Buffer& buffer = plan.buffers[i];
    if (!is_here(buffer)) continue;
    const std::uint64_t jitter = random.below(longest_random_gap / alignment) * alignment;
    const std::uint64_t start = aligned(end_of_last) + red_zone_bytes + jitter + (ways[gaps.size()] - roamed);
    roamed = ways[gaps.size()];
    gaps.push_back({end_of_last, start - end_of_last});
    offsets[i] = start;
    end_of_last = start + static_cast<std::uint64_t>(buffer.meta.span_bytes());
  }
  gaps.push_back({end_of_last, zone.offset + zone.bytes - end_of_last});
  return gaps;
}

}  // namespace cudal1
