#include "device/vgpu/checks/block_order.hpp"

#include <algorithm>

#include "device/vgpu/checks/finding.hpp"

namespace cudal1::vgpu {
namespace {

void raise(std::vector<std::uint32_t>& clocks, const std::vector<std::uint32_t>& others) {
  for (std::size_t i = 0; i < clocks.size(); ++i) clocks[i] = std::max(clocks[i], others[i]);
}

}  // namespace

BlockOrder::BlockOrder(std::uint32_t threads) : threads_(threads), handed_over_(places) {
  const std::uint32_t warps = (threads + warp_size - 1) / warp_size;
  warps_.resize(warps);
  for (WarpState& warp : warps_) warp.known.assign(warps, 0);
}

Mask BlockOrder::all_lanes(std::uint32_t warp) const {
  const std::uint32_t lanes = threads_ - warp * warp_size;
  return lanes >= warp_size ? full_mask : (Mask{1} << lanes) - 1;
}

std::size_t BlockOrder::place_of(std::uint64_t address) {
  return static_cast<std::size_t>(address / 4 * 0x9e3779b97f4a7c15u >> 58);
}

//! Each of these lanes learns what any of them knows, and all that they did.
void BlockOrder::synchronise_lanes(WarpState& warp, Mask lanes) const {
  if (!warp.lanes) warp.lanes = std::make_unique<LaneClocks>();
  std::array<std::uint32_t, warp_size> joined{};
  for_each_lane(lanes, [&](int lane) {
    const auto& known = (*warp.lanes)[static_cast<std::size_t>(lane)];
    for (std::size_t i = 0; i < joined.size(); ++i) joined[i] = std::max(joined[i], known[i]);
  });
  for_each_lane(lanes, [&](int lane) { joined[static_cast<std::size_t>(lane)] = warp.clock; });
  for_each_lane(lanes, [&](int lane) { (*warp.lanes)[static_cast<std::size_t>(lane)] = joined; });
}

void BlockOrder::warp_barrier(std::uint32_t number, Mask lanes) {
  WarpState& warp = warps_[number];
  ++warp.clock;
  if ((all_lanes(number) & ~lanes) == 0)
    warp.together = warp.clock;
  else
    synchronise_lanes(warp, lanes);
}

void BlockOrder::block_barrier(std::span<const Mask> lanes_by_warp) {
  for (std::uint32_t warp = 0; warp < warps_.size(); ++warp)
    if ((all_lanes(warp) & ~lanes_by_warp[warp]) != 0) return partial_barrier(lanes_by_warp);
  ++generation_;
}

void BlockOrder::partial_barrier(std::span<const Mask> lanes_by_warp) {
  Clocks joined(warps_.size());
  for (std::uint32_t warp = 0; warp < warps_.size(); ++warp) {
    if (lanes_by_warp[warp] == 0) continue;
    warp_barrier(warp, lanes_by_warp[warp]);
    raise(joined, warps_[warp].known);
    joined[warp] = warps_[warp].clock;
  }
  for (std::uint32_t warp = 0; warp < warps_.size(); ++warp)
    if (lanes_by_warp[warp] != 0) raise(warps_[warp].known, joined);
}

void BlockOrder::fence(std::uint32_t warp) {
  warps_[warp].fenced = ++warps_[warp].clock;
  has_fences_ = true;
}

void BlockOrder::hand_over(std::uint32_t number, std::uint64_t address, bool gives, bool takes) {
  if (!has_fences_) return;
  Clocks& place = handed_over_[place_of(address)];
  WarpState& warp = warps_[number];
  if (takes && !place.empty()) {
    raise(warp.known, place);
    warp.together = std::max(warp.together, place[number]);
  }
  if (!gives || warp.fenced == 0) return;
  if (place.empty()) place.assign(warps_.size(), 0);
  raise(place, warp.known);
  place[number] = std::max(place[number], warp.fenced);
}

bool BlockOrder::before(std::uint32_t earlier_warp, int earlier_lane, std::uint32_t stamp, std::uint32_t number,
                        int lane) const {
  const WarpState& warp = warps_[number];
  if (earlier_warp != number) return stamp < warp.known[earlier_warp];
  if (earlier_lane == lane || stamp < warp.together) return true;
  return warp.lanes && stamp < (*warp.lanes)[static_cast<std::size_t>(lane)][static_cast<std::size_t>(earlier_lane)];
}

}  // namespace cudal1::vgpu
