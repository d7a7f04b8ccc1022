// What looks on while a block runs.
#pragma once

#include <cstdint>
#include <span>

#include "device/vgpu/machine/warp_access.hpp"

namespace cudal1::vgpu {

//! One for each block. Hears of an access after its bounds check and before it is made. Throws KernelFault.
class AccessObserver {
 public:
  virtual ~AccessObserver() = default;
  virtual void shared(const WarpAccess& access) = 0;  //!< addresses from 0 on in the block's shared memory
  virtual void global(const WarpAccess& access) = 0;  //!< device addresses
  virtual void local(const WarpAccess& access) = 0;   //!< addresses from 0 on in each lane's own local memory
  virtual void block_barrier() = 0;                   //!< a barrier of all threads opened
  virtual void partial_barrier(std::span<const Mask> lanes_by_warp) = 0;  //!< a barrier of some threads opened
  virtual void warp_barrier(std::uint32_t warp, Mask lanes) = 0;          //!< bar.warp.sync
  virtual void fence(std::uint32_t warp, Mask lanes) = 0;                 //!< membar, fence
  virtual void block_ended() = 0;
};

}  // namespace cudal1::vgpu
