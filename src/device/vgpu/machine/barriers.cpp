#include "device/vgpu/machine/barriers.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cudal1::vgpu {

void Barriers::reset(std::span<const Mask> lanes) {
  live_.assign(lanes.begin(), lanes.end());
  live_warps_ = static_cast<std::uint32_t>(live_.size());
  for (Barrier& barrier : all_) barrier.lanes.resize(live_.size());
  for (; used_ != 0; used_ &= used_ - 1) open(static_cast<std::uint32_t>(std::countr_zero(used_)));
}

//! What a warp adds to a barrier. A warp that is all here counts as 32 threads, however many of its lanes are left:
//! that is how the hardware counts, and how a block of 48 threads meets at a barrier for 64.
void Barriers::count(Barrier& barrier, std::uint32_t warp, int sign) {
  const Mask here = barrier.lanes[warp];
  if (here == 0) return;
  const bool full = (live_[warp] & ~here) == 0;
  const int threads = full ? warp_size : lanes_in(here);
  barrier.arrived += static_cast<std::uint32_t>(sign * threads);
  if (full && live_[warp] != 0) barrier.full_warps += static_cast<std::uint32_t>(sign);
}

std::optional<std::string> Barriers::arrive(const Arrival& arrival) {
  if (arrival.barrier >= barrier_count) return fmt::format("there is no barrier {}", arrival.barrier);
  if (arrival.threads % warp_size != 0)
    return fmt::format("barrier {} is to open for {} threads, which are no whole warps", arrival.barrier,
                       arrival.threads);
  Barrier& barrier = all_[arrival.barrier];
  const bool first = (used_ >> arrival.barrier & 1) == 0;
  if (!first && barrier.wanted != arrival.threads)
    return fmt::format("barrier {} is to open for {} threads, where others said {}", arrival.barrier, arrival.threads,
                       barrier.wanted);
  if ((barrier.lanes[arrival.warp] & arrival.lanes) != 0)
    return fmt::format("a thread comes to barrier {} again before it has opened", arrival.barrier);
  used_ |= 1u << arrival.barrier;
  barrier.wanted = arrival.threads;
  if (first) barrier.place = arrival.place;
  count(barrier, arrival.warp, -1);
  barrier.lanes[arrival.warp] |= arrival.lanes;
  count(barrier, arrival.warp, 1);
  barrier.votes += static_cast<std::uint32_t>(lanes_in(arrival.votes));
  barrier.voters += static_cast<std::uint32_t>(lanes_in(arrival.lanes));
  return std::nullopt;
}

void Barriers::leave(std::uint32_t warp, Mask lanes) {
  for (std::uint32_t rest = used_; rest != 0; rest &= rest - 1)
    count(all_[static_cast<std::size_t>(std::countr_zero(rest))], warp, -1);
  live_[warp] &= ~lanes;
  if (live_[warp] == 0) --live_warps_;
  for (std::uint32_t rest = used_; rest != 0; rest &= rest - 1)
    count(all_[static_cast<std::size_t>(std::countr_zero(rest))], warp, 1);
}

std::span<const Mask> Barriers::came_to(std::uint32_t barrier) {
  came_ = all_[barrier].lanes;
  if (all_[barrier].wanted != 0) return came_;
  for (std::size_t warp = 0; warp < came_.size(); ++warp) came_[warp] |= ~live_[warp];
  return came_;
}

void Barriers::open(std::uint32_t barrier) {
  Barrier& opened = all_[barrier];
  std::ranges::fill(opened.lanes, 0);
  opened.wanted = opened.arrived = opened.full_warps = opened.votes = opened.voters = 0;
  used_ &= ~(1u << barrier);
}

}  // namespace cudal1::vgpu
