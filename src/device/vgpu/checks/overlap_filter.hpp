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

  //! Whether a read or write touches bytes that were written before, or writes bytes that were read before, in words
  //! that another thread touched too; another lane of the same instruction is another thread.
  bool overlaps(const WarpAccess& access, LaneShape shape);
  void clear();

 private:
  static constexpr std::uint64_t owned_bytes = 4;
  static constexpr std::uint16_t nobody = 0, many = 0xffff;

  bool mark(const WarpAccess& access, LaneShape shape);
  bool claim(const WarpAccess& access, LaneShape shape);
  bool claim_row(std::uint64_t first_word, std::uint32_t first_thread);
  bool claim_lane(std::uint64_t address, std::uint32_t bytes, std::uint32_t thread);
  bool touch(AccessKind kind, std::uint64_t word, std::uint64_t bits);
  bool touch_lanes(const WarpAccess& access);
  bool read_lanes(const WarpAccess& access);
  bool touch_range(AccessKind kind, std::uint64_t begin, std::uint64_t bytes);

  std::vector<std::uint64_t> read_, written_;  // a bit for each byte
  // By word: the one thread that touched it, counted from 1.
  std::vector<std::uint16_t> owners_;
  std::uint64_t first_owned_, end_owned_ = 0;  // words outside are nobody's
};

}  // namespace cudal1::vgpu
