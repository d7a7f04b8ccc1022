// Where buffers lie in the arena. Between any two of them there is a red zone, and addresses change with every draw.
#pragma once

#include <cstdint>
#include <vector>

#include "base/random.hpp"
#include "device/device.hpp"
#include "program/plan.hpp"

namespace cudal1 {

struct Zone {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  bool operator==(const Zone&) const = default;
};

//! A piece of the arena that belongs to no tensor.
using Gap = Zone;

//! The arena's parts: what op steps allocate, buffers that stay where they are as long as the weights do, and buffers
//! that move with every call.
struct ArenaPlan {
  Zone op_region, fixed, moving;
  std::uint64_t roaming = 0;  //!< bytes of each zone of buffers that are there for them to be anywhere in it
  std::uint64_t total_bytes() const { return moving.offset + moving.bytes; }
  ArenaLayout layout(std::uint64_t arena_bytes) const { return {arena_bytes, op_region.offset, op_region.bytes}; }
};

//! Inputs and outputs move; weights, states, prepared and scratch memory stay, as they do in a user's process.
bool moves_with_every_call(BufferRole role);

//! `region_bytes`: how much op steps may allocate; 0 where they do not use the arena. It comes first, so that it is in
//! the same place for every plan that has as much of it. Saturates instead of overflowing, so that an absurd plan gives
//! an absurd total. `roaming`: how fast memory is depends a little on where it lies, so that two programs are
//! comparable only if neither has the better place for good.
ArenaPlan plan_arena(const Plan& plan, std::uint64_t region_bytes, std::uint64_t roaming = 0);

//! Places the buffers of one zone at random and returns the gaps between them. Offsets of other buffers stay.
std::vector<Gap> place_buffers(const Plan& plan, const ArenaPlan& arena, bool moving, Random& random,
                               BufferOffsets& offsets);

}  // namespace cudal1
