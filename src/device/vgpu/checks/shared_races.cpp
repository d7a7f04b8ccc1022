#include "device/vgpu/checks/shared_races.hpp"

#include <fmt/format.h>

namespace cudal1::vgpu {
namespace {

//! How many addresses say where all lanes lie, apart from the first.
std::size_t addresses_kept(LaneShape shape) {
  if (shape == LaneShape::scattered) return warp_size;
  return is_by_eights(shape) ? warp_size / 8 : 0;
}

}  // namespace

SharedRaces::SharedRaces(const BlockPlace& block, const BlockOrder& order)
    : block_(block), order_(order), filter_(block.launch->shared_bytes) {}

void SharedRaces::access(const WarpAccess& access) {
  if (generation_ != order_.generation()) begin_generation();
  if (!precise_) {
    if (!written_ && access.kind == AccessKind::read) return note(access, access.shape.value_or(LaneShape::scattered));
    if (!written_) filter_notes();
    const LaneShape shape = shape_of(access);
    precise_ = access.kind == AccessKind::atomic || filter_.overlaps(access, shape);
    if (!precise_) return note(access, shape);
    enter_notes();
  }
  enter(access, order_.stamp(access.warp));
}

void SharedRaces::begin_generation() {
  generation_ = order_.generation();
  filter_.clear();
  precise_ = written_ = false;
  notes_.clear();
  words_.clear();
}

void SharedRaces::note(const WarpAccess& access, LaneShape shape) {
  if (notes_.size() >= most_notes && access.kind == AccessKind::read) return;
  const auto& addresses = *access.addresses;
  notes_.push_back({access.at, access.mask, order_.stamp(access.warp), static_cast<std::uint32_t>(addresses[0]),
                    static_cast<std::uint32_t>(words_.size()), static_cast<std::uint16_t>(access.warp),
                    static_cast<std::uint8_t>(access.bytes), access.kind, shape, access.strong, access.guess,
                    access.values != nullptr});
  const std::size_t kept = addresses_kept(shape), begin = words_.size();
  words_.resize(begin + kept);
  if (kept == warp_size)
    for (std::size_t i = 0; i < warp_size; ++i) words_[begin + i] = static_cast<std::uint32_t>(addresses[i]);
  else
    for (std::size_t i = 0; i < kept; ++i) words_[begin + i] = static_cast<std::uint32_t>(addresses[8 * i]);
  if (access.values) words_.insert(words_.end(), access.values, access.values + warp_size);
}

//! As long as nobody writes there is nothing to ask; mostly a barrier comes first, and all is forgotten.
void SharedRaces::filter_notes() {
  written_ = true;
  for (const Note& made : notes_) {
    std::array<std::uint64_t, warp_size> addresses;
    filter_.overlaps(restored(made, addresses), made.shape);
  }
}

//! None of them overlap, so that nothing is found here.
void SharedRaces::enter_notes() {
  if (pieces_.empty()) pieces_.resize((block_.launch->shared_bytes + piece_bytes_ - 1) / piece_bytes_);
  for (const Note& made : notes_) {
    std::array<std::uint64_t, warp_size> addresses;
    enter(restored(made, addresses), made.stamp);
  }
  notes_.clear();
}

WarpAccess SharedRaces::restored(const Note& note, std::array<std::uint64_t, warp_size>& addresses) const {
  const std::uint32_t* words = words_.data() + note.words;
  const std::size_t kept = addresses_kept(note.shape), together = kept == 0 ? warp_size : warp_size / kept;
  const bool side_by_side = note.shape == LaneShape::consecutive || note.shape == LaneShape::consecutive_by_eights;
  const std::uint64_t step = side_by_side ? note.bytes : 0;
  for (std::size_t lane = 0; lane < warp_size; ++lane)
    addresses[lane] = (kept == 0 ? note.first_address : words[lane / together]) + lane % together * step;
  WarpAccess access{note.kind, note.bytes, note.mask, &addresses, note.warp, note.at, note.strong, note.guess};
  if (note.has_values) access.values = words + kept;
  return access;
}

//! Lanes that read the same place count as one reader.
void SharedRaces::enter(const WarpAccess& access, std::uint32_t stamp) {
  if (access.bytes < piece_bytes_) split_pieces(access.bytes);
  ++serial_;
  const auto& addresses = *access.addresses;
  for (Mask left = access.mask; left != 0;) {
    const auto first = static_cast<std::size_t>(std::countr_zero(left));
    Mask lanes = Mask{1} << first;
    if (access.kind == AccessKind::read)
      for (std::size_t lane = first + 1; lane < warp_size && addresses[lane] == addresses[first]; ++lane)
        lanes |= left & (Mask{1} << lane);
    enter_lanes(access, stamp, addresses[first], lanes);
    left &= ~lanes;
  }
}

void SharedRaces::enter_lanes(const WarpAccess& access, std::uint32_t stamp, std::uint64_t address, Mask lanes) {
  const Party now{access.at,   stamp,         lanes,       static_cast<std::uint16_t>(access.warp),
                  access.kind, access.strong, access.guess};
  std::optional<std::uint32_t> value;
  for (std::uint64_t offset = 0; offset < access.bytes; offset += piece_bytes_) {
    if (access.values && access.kind == AccessKind::write) {
      const std::uint32_t word = access.values[std::countr_zero(lanes)] >> (8 * offset);
      value = piece_bytes_ == 4 ? word : word & ((1u << 8 * piece_bytes_) - 1);
    }
    PieceHistory& piece = pieces_[(address + offset) / piece_bytes_];
    if (const auto race = piece.touch(order_, now, serial_, value)) fail(access, address + offset, *race);
  }
}

void SharedRaces::split_pieces(std::uint32_t bytes) {
  pieces_ = split(pieces_, piece_bytes_, bytes);
  piece_bytes_ = bytes;
}

void SharedRaces::fail(const WarpAccess& access, std::uint64_t address, const Race& race) const {
  const std::uint32_t thread = race.earlier.warp * warp_size + static_cast<std::uint32_t>(race.earlier_lane);
  report(FaultKind::shared_race,
         fmt::format("{} {}, which thread {} {} at {}, {}", verb_of(access.kind), block_.describe_shared(address),
                     text_of(index_in(thread, block_.launch->block)), verb_of(race.earlier.kind),
                     place_of(*race.earlier.at), reason_of(race, access.warp)),
         block_, access, race.lane);
}

}  // namespace cudal1::vgpu
