// The quick question before the precise one: did anybody touch these bytes since the last barrier, in a way that could
// be a race? Mostly not: between two barriers a tile is either filled or read.
#pragma once

#include <vector>

#include "device/vgpu/checks/access_shape.hpp"
#include "device/vgpu/checks/byte_marks.hpp"

namespace cudal1::vgpu {

class OverlapFilter {
 public:
  explicit OverlapFilter(std::uint64_t bytes);

  //! Whether a read or write touches bytes that were written before, or writes bytes that were read before; by the same
  //! thread counts too, and by another lane of the same instruction.
  bool overlaps(const WarpAccess& access, LaneShape shape);
  void clear();

 private:
  bool touch(AccessKind kind, std::uint64_t word, std::uint64_t bits);
  bool touch_lanes(const WarpAccess& access);
  bool read_lanes(const WarpAccess& access);
  bool touch_range(AccessKind kind, std::uint64_t begin, std::uint64_t bytes);

  std::vector<std::uint64_t> read_, written_;  // a bit for each byte
};

}  // namespace cudal1::vgpu
