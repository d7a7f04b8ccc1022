// How much of a warp's waiting overlaps: read off the PTX, since counters do not show what depends on what.
#pragma once

#include "device/vgpu/ptx/syntax.hpp"

namespace cudal1::vgpu {

struct LoadParallelism {
  double global = 1;      //!< loads from global and local memory that are on their way when the first is waited for
  double shared = 1;      //!< the same for shared memory
  double arithmetic = 1;  //!< instructions over the longest chain of them, each of which waits for the one before
};

//! Loads between two turns of a loop are together as far as no address of theirs comes from another's result, and no
//! barrier or store that may change what they read lies between: the assembler moves loads up. Inner loops count more.
//! Copies of cp.async are together as far as wait_group leaves them unfinished.
LoadParallelism load_parallelism(const ptx::Function& function);

}  // namespace cudal1::vgpu
