// How the lanes of an access lie beside each other.
#pragma once

#include <cstdint>

namespace cudal1::vgpu {

//! Where not all lanes take part they are scattered.
enum class LaneShape : std::uint8_t {
  scattered,
  same,                   //!< all lanes at one address
  consecutive,            //!< each lane begins where the one before it ends
  same_by_eights,         //!< lanes 0 to 7, 8 to 15 … at one address each
  consecutive_by_eights,  //!< the same among lanes 0 to 7, 8 to 15 …
};

}  // namespace cudal1::vgpu
