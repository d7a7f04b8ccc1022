#include "device/vgpu/checks/global_races.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "device/vgpu/checks/access_shape.hpp"

namespace cudal1::vgpu {
namespace {

bool is_made_to_meet(const WarpAccess& access) { return access.kind == AccessKind::atomic || access.strong; }

//! How many bytes of consecutive lanes have the same history after an access. Where blocks meet on purpose, words are
//! told apart.
std::uint32_t unit_of(const WarpAccess& access) {
  const std::uint32_t unit = std::min(ShadowPage::largest_piece, std::uint32_t{warp_size} * access.bytes);
  return is_made_to_meet(access) || (*access.addresses)[0] % unit != 0 ? access.bytes : unit;
}

}  // namespace

GlobalRaces::GlobalRaces(const BlockPlace& block, GlobalRaceState& state)
    : block_(block), state_(state), number_(block.number()) {}

void GlobalRaces::fence() { ++moment_.fences; }

void GlobalRaces::settle() {
  if (places_to_take_ == 0) return;
  state_.hand_overs.take(number_, places_to_take_);
  places_to_take_ = 0;
}

//! What only reads can happen to is not watched.
ShadowPage* GlobalRaces::page_at(std::uint64_t address) {
  const std::uint64_t number = address / ShadowPage::bytes;
  CachedPage& cached = pages_[number % pages_.size()];
  if (cached.number == number) return cached.page;
  const Segment* whole = block_.launch->memory->find(number * ShadowPage::bytes, ShadowPage::bytes);
  const bool watched = address < parameter_window && (!whole || whole->writable);
  cached = {number, watched ? &state_.shadow.page(number) : nullptr};
  return cached.page;
}

void GlobalRaces::access(const WarpAccess& access) {
  settle();
  const BlockParty now{access.at, number_, is_made_to_meet(access) ? AccessKind::atomic : access.kind, moment_};
  last_ = {~0u, 0, false};
  access_pages(access, now);
  if (is_made_to_meet(access)) hand_over(access);
}

//! Mostly all lanes touch one page.
void GlobalRaces::access_pages(const WarpAccess& access, const BlockParty& now) {
  const AddressRange range = range_of(access);
  if (range.begin / ShadowPage::bytes == (range.end - 1) / ShadowPage::bytes) {
    if (ShadowPage* page = page_at(range.begin)) access_page(access, now, *page, access.mask);
    return;
  }
  const auto page_of = [&](int lane) {
    return (*access.addresses)[static_cast<std::size_t>(lane)] / ShadowPage::bytes;
  };
  for (Mask left = access.mask; left != 0;) {
    const int first = std::countr_zero(left);
    Mask lanes = 0;
    for_each_lane(left, [&](int lane) { lanes |= static_cast<Mask>(page_of(lane) == page_of(first)) << lane; });
    ShadowPage* page = page_at((*access.addresses)[static_cast<std::size_t>(first)]);
    if (page) access_page(access, now, *page, lanes);
    left &= ~lanes;
  }
}

void GlobalRaces::access_page(const WarpAccess& access, const BlockParty& now, ShadowPage& page, Mask lanes) {
  const std::scoped_lock lock(page.lock);
  const bool in_one_piece = lanes == full_mask && shape_of(access) == LaneShape::consecutive;
  const std::uint32_t unit = in_one_piece ? unit_of(access) : access.bytes;
  if (unit < page.piece_bytes) page.split(unit);
  if (in_one_piece)
    access_pieces(access, now, page, 0, std::uint64_t{warp_size} * access.bytes);
  else
    for_each_lane(lanes, [&](int lane) { access_pieces(access, now, page, lane, access.bytes); });
}

//! From a lane's address on; what goes beyond the lane's own bytes belongs to the lanes behind it.
void GlobalRaces::access_pieces(const WarpAccess& access, const BlockParty& now, ShadowPage& page, int lane,
                                std::uint64_t bytes) {
  const std::uint64_t address = (*access.addresses)[static_cast<std::size_t>(lane)];
  const std::uint64_t first = address % ShadowPage::bytes / page.piece_bytes;
  for (std::uint64_t offset = 0; offset < bytes; offset += page.piece_bytes) {
    std::uint32_t& number = page.numbers[first + offset / page.piece_bytes];
    if (number != last_.from)
      last_ = transition(access, now, number, address + offset, lane + static_cast<int>(offset / access.bytes));
    number = last_.to;
    if (last_.takes) places_to_take_ |= BlockHandOvers::place_bit(address + offset);
  }
}

GlobalRaces::Transition GlobalRaces::transition(const WarpAccess& access, const BlockParty& now, std::uint32_t from,
                                                std::uint64_t address, int lane) {
  const WordHistory& history = state_.shadow.histories[from];
  if (races(history.write)) fail(access, lane, address, history.write);
  if (now.kind != AccessKind::write) {
    const bool is_changed = std::ranges::any_of(
        history.users, [](const BlockParty& user) { return user.at && user.kind == AccessKind::atomic; });
    return {from, after_use(now, from), is_changed};
  }
  for (const BlockParty& user : history.users)
    if (races(user)) fail(access, lane, address, user);
  return {from, after_write(now), false};
}

bool GlobalRaces::races(const BlockParty& earlier) const {
  return earlier.at && earlier.block != number_ && !state_.hand_overs.before(earlier.block, earlier.moment, number_);
}

//! The same for every word that an instruction writes.
std::uint32_t GlobalRaces::after_write(const BlockParty& now) {
  if (last_write_.at != now.at || last_write_.moment != now.moment) {
    last_write_ = now;
    last_write_number_ = state_.shadow.histories.add({now, {}});
  }
  return last_write_number_;
}

//! Two users are enough to catch a later write, and one that is atomic: all others that touch the word then are too.
std::uint32_t GlobalRaces::after_use(const BlockParty& now, std::uint32_t from) {
  WordHistory history = state_.shadow.histories[from];
  for (BlockParty& user : history.users) {
    const bool same_block = user.block == now.block && user.moment.fences == now.moment.fences;
    if (user.at && (same_block || user.kind == AccessKind::atomic)) return from;
    if (user.at && user.block != now.block) continue;
    user = now;
    return state_.shadow.histories.add(history);
  }
  return from;
}

//! The block gives what lies before its fence now; it takes once the access has been made.
void GlobalRaces::hand_over(const WarpAccess& access) {
  std::uint32_t places = 0;
  for_each_lane(access.mask, [&](int lane) {
    places |= BlockHandOvers::place_bit((*access.addresses)[static_cast<std::size_t>(lane)]);
  });
  if (access.kind != AccessKind::write) places_to_take_ |= places;
  if (access.kind != AccessKind::read && moment_.fences > 0)
    moment_.tick = state_.hand_overs.give(number_, places, moment_.fences);
}

void GlobalRaces::fail(const WarpAccess& access, int lane, std::uint64_t address, const BlockParty& earlier) const {
  report(FaultKind::global_race,
         fmt::format("{} {}, which block {} {} at {}, and nothing orders the two", verb_of(access.kind),
                     block_.launch->memory->describe(address), text_of(index_in(earlier.block, block_.launch->grid)),
                     verb_of(earlier.kind), place_of(*earlier.at)),
         block_, access, lane);
}

}  // namespace cudal1::vgpu
