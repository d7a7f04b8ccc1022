// What lanes find out about each other: match, redux, activemask.
#pragma once

#include <string>

#include "device/vgpu/machine/step.hpp"

namespace cudal1::vgpu {

//! "any" or "all", of 32 or 64 bits: lanes with the same value. All: a predicate too, in the second result.
Effect find_match(const std::string& mode, int bits);

//! "add", "min", "max", "and", "or" or "xor" of "s32", "u32" or "b32".
Effect find_reduction(const std::string& operation, const std::string& type);

//! The lanes that are here now.
void active_lanes(Warp& warp, const Step& step, Mask mask);

//! Instructions that the warp, and the warps of its block, have done: what clocks show.
void read_clock(Warp& warp, const Step& step, Mask mask);
void read_wide_clock(Warp& warp, const Step& step, Mask mask);

//! Of f16, f16x2, bf16 and bf16x2, and compare-and-swap of 16 bits; null for others.
Effect find_small_atomic(const std::string& operation, const std::string& type);

}  // namespace cudal1::vgpu
