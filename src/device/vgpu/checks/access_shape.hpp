// How the lanes of an access lie beside each other.
#pragma once

#include <algorithm>

#include "device/vgpu/machine/warp_access.hpp"

namespace cudal1::vgpu {

inline LaneShape shape_of(const WarpAccess& access) {
  if (access.shape) return *access.shape;
  if (access.mask != full_mask) return LaneShape::scattered;
  const auto& addresses = *access.addresses;
  std::uint64_t apart = 0, out_of_line = 0;
  for (std::size_t eight = 0; eight < warp_size; eight += 8)
    for (std::size_t i = 0; i < 8; ++i) {
      apart |= addresses[eight + i] ^ addresses[eight];
      out_of_line |= addresses[eight + i] ^ (addresses[eight] + i * access.bytes);
    }
  if (apart != 0 && out_of_line != 0) return LaneShape::scattered;
  const std::uint64_t step = apart == 0 ? 0 : 8 * access.bytes;
  std::uint64_t elsewhere = 0;
  for (std::size_t eight = 8; eight < warp_size; eight += 8)
    elsewhere |= addresses[eight] ^ (addresses[0] + eight / 8 * step);
  if (apart == 0) return elsewhere == 0 ? LaneShape::same : LaneShape::same_by_eights;
  return elsewhere == 0 ? LaneShape::consecutive : LaneShape::consecutive_by_eights;
}

inline bool is_by_eights(LaneShape shape) {
  return shape == LaneShape::same_by_eights || shape == LaneShape::consecutive_by_eights;
}

//! visit(address, bytes) for the parts of an access whose lanes lie together; not for scattered ones.
template <class Visit>
void for_each_part(const WarpAccess& access, LaneShape shape, Visit visit) {
  const auto& addresses = *access.addresses;
  if (shape == LaneShape::same) return visit(addresses[0], std::uint64_t{access.bytes});
  if (shape == LaneShape::consecutive) return visit(addresses[0], std::uint64_t{access.bytes} * warp_size);
  const std::uint64_t bytes = shape == LaneShape::same_by_eights ? access.bytes : 8 * access.bytes;
  for (std::size_t eight = 0; eight < warp_size; eight += 8) visit(addresses[eight], bytes);
}

struct AddressRange {
  std::uint64_t begin = 0, end = 0;
};

//! From the lowest byte that a lane touches to the highest.
inline AddressRange range_of(const WarpAccess& access) {
  const std::uint64_t first = (*access.addresses)[0];
  if (access.shape == LaneShape::same) return {first, first + access.bytes};
  if (access.shape == LaneShape::consecutive) return {first, first + std::uint64_t{warp_size} * access.bytes};
  AddressRange range{~std::uint64_t{0}, 0};
  if (access.mask == full_mask) {
    for (const std::uint64_t address : *access.addresses) {
      range.begin = std::min(range.begin, address);
      range.end = std::max(range.end, address);
    }
    range.end += access.bytes;
    return range;
  }
  for (Mask rest = access.mask; rest != 0; rest &= rest - 1) {
    const std::uint64_t address = (*access.addresses)[static_cast<std::size_t>(std::countr_zero(rest))];
    range.begin = std::min(range.begin, address);
    range.end = std::max(range.end, address + access.bytes);
  }
  return range;
}

}  // namespace cudal1::vgpu
