#include "device/vgpu/checks/block_global_races.hpp"

#include <fmt/format.h>

#include "device/vgpu/checks/access_shape.hpp"

namespace cudal1::vgpu {
namespace {

AccessKind kind_of(const WarpAccess& access) { return access.strong ? AccessKind::atomic : access.kind; }

//! The part of a stored word that a piece has.
std::uint32_t part_of(std::uint32_t word, std::uint64_t offset, std::uint32_t bytes) {
  word >>= 8 * offset;
  return bytes == 4 ? word : word & ((1u << 8 * bytes) - 1);
}

}  // namespace

//! What nobody may write cannot be raced for.
bool BlockGlobalRaces::is_watched(std::uint64_t address) {
  if (!segment_ || address < segment_->begin || address - segment_->begin >= segment_->bytes)
    segment_ = block_.launch->memory->find(address, 1);
  return segment_ && segment_->writable;
}

void BlockGlobalRaces::access(const WarpAccess& access) {
  if (access.mask == 0 || !is_watched((*access.addresses)[static_cast<std::size_t>(std::countr_zero(access.mask))]))
    return;
  ++serial_;
  const bool whole = kind_of(access) != AccessKind::atomic && access.bytes >= word_bytes &&
                     (*access.addresses)[0] % line_bytes == 0 && shape_of(access) == LaneShape::consecutive;
  if (whole)
    access_whole_lines(access);
  else
    access_lanes(access, access.mask);
}

//! Null where there is no room for one more.
BlockGlobalRaces::Line* BlockGlobalRaces::line_at(std::uint64_t address) {
  const std::uint64_t number = address / line_bytes;
  auto found = lines_.find(number);
  if (found == lines_.end()) {
    if (lines_.size() >= most_lines) make_room();
    if (lines_.size() >= most_lines) return nullptr;
    found = lines_.try_emplace(number).first;
    found->second.generation = order_.generation();
  }
  Line& line = found->second;
  if (line.generation != order_.generation()) {
    line = {};
    line.generation = order_.generation();
  }
  return &line;
}

void BlockGlobalRaces::make_room() {
  if (emptied_at_ == order_.generation()) return;
  emptied_at_ = order_.generation();
  std::erase_if(lines_, [this](const auto& entry) { return entry.second.generation != emptied_at_; });
}

void BlockGlobalRaces::access_whole_lines(const WarpAccess& access) {
  const std::uint32_t lanes = static_cast<std::uint32_t>(line_bytes) / access.bytes;
  for (std::uint32_t first = 0; first < warp_size; first += lanes) {
    Line* line = line_at((*access.addresses)[first]);
    if (!line) continue;
    const WholeLine now{access.at, order_.stamp(access.warp), access.bytes, static_cast<std::uint16_t>(access.warp),
                        static_cast<std::uint8_t>(first)};
    const Mask mask = static_cast<Mask>(((std::uint64_t{1} << lanes) - 1) << first);
    if (!take_whole(access, *line, now)) access_lanes(access, mask);
  }
}

//! Whether the line has no owner, or the same: a thread does not race with itself.
bool BlockGlobalRaces::take_whole(const WarpAccess& access, Line& line, const WholeLine& now) {
  if (!line.pieces.empty()) return false;
  for (const WholeLine* done : {&line.write, &line.read})
    if (done->at && !done->same_owner(now)) return false;
  if (access.kind == AccessKind::read) {
    line.read = now;
    return true;
  }
  line.write = now;
  line.read = {};
  line.values.clear();
  if (access.values && access.bytes == word_bytes) line.values.assign(access.values, access.values + warp_size);
  return true;
}

void BlockGlobalRaces::make_pieces(Line& line) {
  line.pieces.resize(words_in_line);
  if (line.write.at) enter_whole(line, line.write, AccessKind::write);
  if (line.read.at) enter_whole(line, line.read, AccessKind::read);
}

//! Nothing is found here: every word belongs to one lane.
void BlockGlobalRaces::enter_whole(Line& line, const WholeLine& done, AccessKind kind) {
  for (std::uint32_t word = 0; word < words_in_line; ++word) {
    const auto lane = done.first_lane + word * static_cast<std::uint32_t>(word_bytes) / done.bytes;
    const Party party{done.at, done.stamp, Mask{1} << lane, done.warp, kind, false, true};
    std::optional<std::uint32_t> value;
    if (kind == AccessKind::write && !line.values.empty()) value = line.values[lane];
    line.pieces[word].touch(order_, party, 0, value);
  }
}

//! Lanes that read the same place count as one reader.
void BlockGlobalRaces::access_lanes(const WarpAccess& access, Mask mask) {
  const auto& addresses = *access.addresses;
  while (mask != 0) {
    const auto first = static_cast<std::size_t>(std::countr_zero(mask));
    Mask lanes = Mask{1} << first;
    if (access.kind == AccessKind::read)
      for (std::size_t lane = first + 1; lane < warp_size; ++lane)
        if (addresses[lane] == addresses[first]) lanes |= mask & (Mask{1} << lane);
    mask &= ~lanes;
    Line* line = is_watched(addresses[first]) ? line_at(addresses[first]) : nullptr;
    if (!line) continue;
    if (line->pieces.empty()) make_pieces(*line);
    enter(access, *line, addresses[first], lanes);
  }
}

void BlockGlobalRaces::enter(const WarpAccess& access, Line& line, std::uint64_t address, Mask lanes) {
  if (access.bytes < line.piece_bytes) {
    line.pieces = split(line.pieces, line.piece_bytes, access.bytes);
    line.piece_bytes = access.bytes;
  }
  const Party now{access.at,
                  order_.stamp(access.warp),
                  lanes,
                  static_cast<std::uint16_t>(access.warp),
                  kind_of(access),
                  access.strong,
                  true};
  const bool has_value = access.values && access.kind == AccessKind::write && access.bytes <= word_bytes;
  for (std::uint64_t offset = 0; offset < access.bytes; offset += line.piece_bytes) {
    std::optional<std::uint32_t> value;
    if (has_value) value = part_of(access.values[std::countr_zero(lanes)], offset, line.piece_bytes);
    PieceHistory& piece = line.pieces[(address + offset) % line_bytes / line.piece_bytes];
    if (const auto race = piece.touch(order_, now, serial_, value)) fail(access, address + offset, *race);
  }
}

void BlockGlobalRaces::fail(const WarpAccess& access, std::uint64_t address, const Race& race) const {
  const std::uint32_t thread = race.earlier.warp * warp_size + static_cast<std::uint32_t>(race.earlier_lane);
  report(FaultKind::global_race,
         fmt::format("{} {}, which thread {} of the same block {} at {}, {}", verb_of(access.kind),
                     block_.launch->memory->describe(address), text_of(index_in(thread, block_.launch->block)),
                     verb_of(race.earlier.kind), place_of(*race.earlier.at), reason_of(race, access.warp)),
         block_, access, race.lane);
}

}  // namespace cudal1::vgpu
