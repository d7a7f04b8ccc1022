#include "device/vgpu/machine/memory_watch.hpp"

#include <algorithm>
#include <cstring>

#include "device/vgpu/machine/fingerprint.hpp"

namespace cudal1::vgpu {

void MemoryWatch::note_first(const WarpAccess& access, Index3 block, bool global) {
  if (first_ || access.kind == AccessKind::write) return;
  const auto lane = static_cast<std::uint32_t>(std::countr_zero(access.mask));
  first_ = Place{*access.at, block, access.warp * warp_size + lane, global, (*access.addresses)[lane]};
}

void MemoryWatch::note_poll(const WarpAccess& access, Index3 block) {
  if (access.kind != AccessKind::atomic && !access.strong) return;
  Fingerprint addresses;
  for_each_lane(access.mask, [&](int lane) { addresses.add((*access.addresses)[static_cast<std::size_t>(lane)]); });
  ++poll_count_;
  Poll& poll = polls_[{block, access.warp}][access.at];
  if (poll.times++ > 0 && poll.addresses != addresses.value()) poll.same = false;
  poll.addresses = addresses.value();
}

std::size_t MemoryWatch::polling_warps() const {
  const auto polls = [](const auto& warp) {
    return std::ranges::all_of(warp.second,
                               [](const auto& place) { return place.second.same && place.second.times > 1; });
  };
  return static_cast<std::size_t>(std::ranges::count_if(polls_, polls));
}

void MemoryWatch::note_shared(const WarpAccess& access, Index3 block) {
  note_first(access, block, false);
  note_poll(access, block);
}

void MemoryWatch::note_global(const WarpAccess& access, Index3 block) {
  note_first(access, block, true);
  note_poll(access, block);
  saw_global_ = true;
  if (access.kind == AccessKind::read) return;
  for_each_lane(access.mask,
                [&](int lane) { remember((*access.addresses)[static_cast<std::size_t>(lane)], access.bytes); });
}

void MemoryWatch::remember(std::uint64_t address, std::uint32_t bytes) {
  const Segment* segment = memory_.find(address, bytes);
  if (!segment || bytes > most_bytes || before_.size() >= most_places) {
    too_much_ = true;
    return;
  }
  const auto [place, is_new] = before_.try_emplace(address);
  Before& before = place->second;
  if (!is_new && before.bytes >= bytes) return;
  // A wider access to a place that may have changed since: too rare to be looked into.
  if (!is_new) too_much_ = true;
  before.host = segment->host + (address - segment->begin);
  before.bytes = bytes;
  std::memcpy(before.value.data(), before.host, bytes);
}

bool MemoryWatch::is_unchanged() const {
  return !too_much_ && std::ranges::all_of(before_, [](const auto& place) {
    const Before& before = place.second;
    return std::memcmp(before.value.data(), before.host, before.bytes) == 0;
  });
}

}  // namespace cudal1::vgpu
