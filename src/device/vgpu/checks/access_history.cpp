#include "device/vgpu/checks/access_history.hpp"

#include "device/vgpu/checks/finding.hpp"

namespace cudal1::vgpu {
namespace {

//! Both are made to meet: atomics always; volatile and the like between warps only, since inside a warp they are the
//! old way to rely on lanes in step.
bool may_meet(const Party& a, const Party& b) {
  const bool atomics = a.kind == AccessKind::atomic && b.kind == AccessKind::atomic;
  const auto made_for_it = [](const Party& party) { return party.strong || party.kind == AccessKind::atomic; };
  const auto reads = [](const Party& party) { return party.kind == AccessKind::read && party.may_read_atomics; };
  if ((reads(a) && b.kind == AccessKind::atomic) || (reads(b) && a.kind == AccessKind::atomic)) return true;
  return atomics || (a.warp != b.warp && made_for_it(a) && made_for_it(b));
}

std::optional<Race> race_in_warp(const BlockOrder& order, const Party& earlier, const Party& now) {
  std::optional<Race> found;
  for_each_lane(now.lanes, [&](int lane) {
    for_each_lane(earlier.lanes & ~(Mask{1} << lane), [&](int other) {
      if (!found && !order.before(earlier.warp, other, earlier.stamp, now.warp, lane))
        found = Race{earlier, other, lane, false};
    });
  });
  return found;
}

std::optional<Race> race_between(const BlockOrder& order, const Party& earlier, const Party& now) {
  if (earlier.lanes == 0 || (earlier.lanes == now.lanes && earlier.warp == now.warp && std::has_single_bit(now.lanes)))
    return std::nullopt;
  if (may_meet(earlier, now)) return std::nullopt;
  if (earlier.warp == now.warp) return race_in_warp(order, earlier, now);
  const int other = std::countr_zero(earlier.lanes), lane = std::countr_zero(now.lanes);
  if (order.before(earlier.warp, other, earlier.stamp, now.warp, lane)) return std::nullopt;
  return Race{earlier, other, lane, false};
}

}  // namespace

//! Writes that store the same do not harm each other. Of lanes that write in one instruction one wins: which one is
//! open, so that it must not matter.
std::optional<Race> PieceHistory::race_with_write(const BlockOrder& order, const Party& now, std::uint32_t serial,
                                                  std::optional<std::uint32_t> value) const {
  const bool same_instruction = write_.lanes != 0 && serial == serial_;
  if (now.kind == AccessKind::write && value_ && value_ == value) return std::nullopt;
  if (same_instruction && !(value_ && value)) return std::nullopt;
  std::optional<Race> race = race_between(order, write_, now);
  if (race) race->same_instruction = same_instruction;
  return race;
}

std::optional<Race> PieceHistory::touch(const BlockOrder& order, const Party& now, std::uint32_t serial,
                                        std::optional<std::uint32_t> value) {
  if (generation_ != order.generation()) {
    *this = {};
    generation_ = order.generation();
  }
  if (auto race = race_with_write(order, now, serial, value)) return race;
  if (now.kind != AccessKind::read)
    for (const Party& user : users_)
      if (auto race = race_between(order, user, now)) return race;
  if (now.kind == AccessKind::read)
    for (const Party& user : users_)
      if (user.kind == AccessKind::atomic)
        if (auto race = race_between(order, user, now)) return race;
  if (now.kind != AccessKind::write) {
    remember_user(order, now);
    return std::nullopt;
  }
  write_ = now;
  users_ = {};
  serial_ = serial;
  value_ = value;
  return std::nullopt;
}

//! Of more than two warps some are forgotten: races may be missed then, never invented.
void PieceHistory::remember_user(const BlockOrder& order, const Party& now) {
  for (Party& user : users_) {
    if (user.lanes == 0 || user.warp != now.warp) continue;
    if (now.may_read_atomics && !user.may_read_atomics) return;  // that one may race with more
    const Mask others =
        user.stamp == now.stamp && user.kind == now.kind && user.may_read_atomics == now.may_read_atomics ? user.lanes
                                                                                                          : 0;
    user = now;
    user.lanes |= others;
    return;
  }
  for (Party& user : users_) {
    if (user.lanes != 0 && !order.before(user.warp, 0, user.stamp, now.warp, 0)) continue;
    user = now;
    return;
  }
  users_[1] = now;
}

PieceHistory PieceHistory::part(std::uint32_t first_bit, std::uint32_t bits) const {
  PieceHistory made = *this;
  if (value_) made.value_ = *value_ >> first_bit & ((std::uint32_t{1} << bits) - 1);
  return made;
}

std::vector<PieceHistory> split(const std::vector<PieceHistory>& pieces, std::uint32_t bytes,
                                std::uint32_t smaller_bytes) {
  const std::uint32_t parts = bytes / smaller_bytes;
  std::vector<PieceHistory> finer;
  finer.reserve(pieces.size() * parts);
  for (const PieceHistory& piece : pieces)
    for (std::uint32_t i = 0; i < parts; ++i) finer.push_back(piece.part(8 * smaller_bytes * i, 8 * smaller_bytes));
  return finer;
}

const char* reason_of(const Race& race, std::uint32_t warp) {
  if (race.same_instruction) return "in the same instruction, with another value";
  if (race.earlier.warp == warp) return "in the same warp: its lanes are not in step without __syncwarp()";
  return "with no barrier between them";
}

}  // namespace cudal1::vgpu
