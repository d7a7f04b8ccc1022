// Who watches what a block does to memory: the checks for races and for reads of what nobody wrote.
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "device/vgpu/machine/fault.hpp"
#include "device/vgpu/machine/warp_access.hpp"

namespace cudal1::vgpu {

//! One for each block. Any of these may throw KernelFault, which ends the launch.
class AccessObserver {
 public:
  virtual ~AccessObserver() = default;

  // One call a warp instruction and memory, once bounds and alignment are known to be right and before anything is
  // read or written. A generic access is handed over as accesses to the memories that its lanes meant.
  virtual void shared(const WarpAccess& access) = 0;
  virtual void global(const WarpAccess& access) = 0;
  virtual void local(const WarpAccess& access) = 0;

  //! A barrier of the block opens. `lanes` has a mask for each warp: who came to it, arrivals without waiting included.
  virtual void block_barrier(std::span<const Mask> lanes) = 0;
  //! Lanes of a warp have waited for each other: bar.warp.sync, shuffles, votes.
  virtual void warp_barrier(std::uint32_t warp, Mask lanes) = 0;
  //! membar, fence.
  virtual void fence(std::uint32_t /*warp*/, Mask /*lanes*/) {}
  //! All threads of the block have ended.
  virtual void end() = 0;
};

//! Blocks run on several threads: what their observers share they must guard. Empty means that nobody watches.
using ObserverFactory = std::function<std::unique_ptr<AccessObserver>(Index3 block)>;

}  // namespace cudal1::vgpu
