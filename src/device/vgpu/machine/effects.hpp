// Instructions that touch memory or other lanes: what they do, found by how they are written.
#pragma once

#include <string>
#include <vector>

#include "device/vgpu/machine/step.hpp"

namespace cudal1::vgpu {

struct Access {
  AddressSpace space = AddressSpace::generic;  //!< goes into Step::space
  std::string type;                            //!< of an element: "f32", "u8"
  int vector = 1;                              //!< elements: 1, 2 or 4
  std::size_t register_bits = 32;              //!< of the registers that are loaded or stored
};

//! Null where the type is not known.
Effect find_load(const Access& access);
Effect find_store(const Access& access);

//! Of "add", "f32" and the like; the old value goes to operation.result, or nowhere where that is 0.
Effect find_atomic(const std::string& operation, const std::string& type);

//! "up", "down", "bfly" or "idx".
Effect find_shuffle(const std::string& mode);
//! For a lane operand and a clamp with segment mask that are the same in all lanes.
FixedShuffle fixed_shuffle(const std::string& mode, std::int32_t count, std::int32_t control);

//! Does step.operation, an integer division or remainder, where no lane divides by zero. Null for other types.
Effect find_checked_division(const std::string& type);

//! Accesses are in order, so there is nothing to do, but the observer may want to know.
void fence(Warp& warp, const Step& step, Mask mask);

//! "any", "all", "uni" or "ballot".
Effect find_vote(const std::string& mode);

}  // namespace cudal1::vgpu
