// How the lanes of an access lie beside each other.
#pragma once

#include <algorithm>

#include "device/vgpu/machine/warp_access.hpp"

namespace cudal1::vgpu {

enum class LaneShape : std::uint8_t {
  scattered,
  same,         //!< all lanes at one address
  consecutive,  //!< all lanes, side by side
};

inline LaneShape shape_of(const WarpAccess& access) {
  if (access.mask != full_mask) return LaneShape::scattered;
  const auto& addresses = *access.addresses;
  std::uint64_t apart = 0, out_of_line = 0;
  for (std::size_t lane = 0; lane < warp_size; ++lane) {
    apart |= addresses[lane] ^ addresses[0];
    out_of_line |= addresses[lane] ^ (addresses[0] + lane * access.bytes);
  }
  if (apart == 0) return LaneShape::same;
  return out_of_line == 0 ? LaneShape::consecutive : LaneShape::scattered;
}

struct AddressRange {
  std::uint64_t begin = 0, end = 0;
};

//! From the lowest byte that a lane touches to the highest.
inline AddressRange range_of(const WarpAccess& access) {
  AddressRange range{~std::uint64_t{0}, 0};
  for (Mask rest = access.mask; rest != 0; rest &= rest - 1) {
    const std::uint64_t address = (*access.addresses)[static_cast<std::size_t>(std::countr_zero(rest))];
    range.begin = std::min(range.begin, address);
    range.end = std::max(range.end, address + access.bytes);
  }
  return range;
}

}  // namespace cudal1::vgpu
