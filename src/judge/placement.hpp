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

//! The arena's parts: buffers that stay where they are as long as the weights do, buffers that move with every call,
//! and what op steps allocate.
struct ArenaPlan {
  Zone fixed, moving, op_region;
  std::uint64_t total_bytes() const { return op_region.offset + op_region.bytes; }
  ArenaLayout layout(std::uint64_t arena_bytes) const { return {arena_bytes, op_region.offset, op_region.bytes}; }
};

//! Inputs and outputs move; weights, states, prepared and scratch memory stay, as they do in a user's process.
bool moves_with_every_call(BufferRole role);

//! `library_bytes`: how much op steps may allocate; 0 where they do not use the arena. Saturates instead of
//! overflowing, so that an absurd plan gives an absurd total.
ArenaPlan plan_arena(const Plan& plan, std::uint64_t library_bytes);

//! Places the buffers of one zone at random and returns the gaps between them. Offsets of other buffers stay.
std::vector<Gap> place_buffers(const Plan& plan, const ArenaPlan& arena, bool moving, Random& random,
                               BufferOffsets& offsets);

}  // namespace cudal1
