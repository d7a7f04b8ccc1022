// One warp instruction's way to memory, as the checks and the counters see it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "device/vgpu/machine/lane_shape.hpp"
#include "device/vgpu/machine/lanes.hpp"
#include "device/vgpu/ptx/syntax.hpp"

namespace cudal1::vgpu {

enum class AccessKind : std::uint8_t { read, write, atomic };

struct WarpAccess {
  AccessKind kind = AccessKind::read;
  std::uint32_t bytes = 4;  //!< of each lane
  Mask mask = 0;            //!< lanes that take part
  const std::array<std::uint64_t, warp_size>* addresses =
      nullptr;             //!< in the memory's own space: shared ones from 0 on
  std::uint32_t warp = 0;  //!< in its block
  const ptx::Location* at = nullptr;
  bool strong = false;                    //!< volatile, relaxed, acquire or release: meant to meet others of its kind
  bool guess = false;                     //!< a read that a compare-and-swap puts to the test
  std::uint8_t element_bytes = 1;         //!< of what is read as one and may hold padding; 1: nothing may
  const std::uint32_t* values = nullptr;  //!< that a write of at most 4 bytes stores, by lane; null: not known
  std::optional<LaneShape> shape;         //!< where somebody has looked already
};

}  // namespace cudal1::vgpu
