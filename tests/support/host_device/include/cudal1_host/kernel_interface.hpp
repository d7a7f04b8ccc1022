// What a program compiled for the host and the scheduler that runs it know of each other. Compiled on both sides.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cudal1_host {

struct Index3 {
  unsigned x, y, z;
};

//! The thread that runs now; the scheduler rewrites it at every switch.
struct ThreadState {
  Index3 thread, block, block_dim, grid_dim;
  int lane;
  void* dynamic_shared;
};

struct BarrierResult {
  int arrived;
  int nonzero;  //!< how many of them passed a predicate other than 0
};

struct WarpResult {
  std::uint64_t value;  //!< of the source lane; the caller's own where that lane takes no part
  unsigned ballot;      //!< lanes whose value is not 0
  unsigned arrived;
};

//! What a kernel can ask of the scheduler. Each call may run other threads of the block first.
struct Services {
  ThreadState* current;
  BarrierResult (*barrier)(int predicate);
  //! Waits for every lane named in the mask that has not exited.
  WarpResult (*warp)(unsigned mask, std::uint64_t value, int source_lane);
  //! The lanes that are at this call site when no other thread can go on.
  unsigned (*active_lanes)(const void* call_site);
  void (*yield)();
  void (*trap)();
};

//! One kernel of a compiled program; arguments as for cuLaunchKernel: pointers to the values.
struct Kernel {
  void (*invoke)(void* const* arguments);
  int parameter_count;
  const std::size_t* parameter_bytes;
};

}  // namespace cudal1_host
