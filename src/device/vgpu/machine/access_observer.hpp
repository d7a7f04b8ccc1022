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

  //! cp.async is asked for: from now on it may write there, in place of the threads that asked.
  virtual void copy_begins(const WarpAccess& access) { shared(access); }
  //! These threads have waited for it: it has written.
  virtual void copy_ends(const WarpAccess& /*access*/) {}

  //! A barrier of the block opens. `lanes` has a mask for each warp: who came to it, arrivals without waiting included,
  //! and for one of all threads who has ended.
  virtual void block_barrier(std::span<const Mask> lanes) = 0;
  //! bar.warp.sync. Shuffles and votes also wait for their lanes, but they order no accesses to memory.
  virtual void warp_barrier(std::uint32_t warp, Mask lanes) = 0;
  //! membar, fence.
  virtual void fence(std::uint32_t /*warp*/, Mask /*lanes*/) {}
  //! All threads of the block have ended.
  virtual void end() = 0;
};

//! Blocks run on several threads: what their observers share they must guard. Empty means that nobody watches.
using ObserverFactory = std::function<std::unique_ptr<AccessObserver>(Index3 block)>;

}  // namespace cudal1::vgpu
