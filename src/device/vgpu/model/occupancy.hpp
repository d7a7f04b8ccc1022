// How many blocks of a launch a multiprocessor holds at once.
#pragma once

#include <cstdint>
#include <string>

#include "device/vgpu/model/gpu_profile.hpp"

namespace cudal1::vgpu {

struct Occupancy {
  //! What keeps a further block out; `impossible` where not even one fits.
  enum class Limit { blocks, warps, registers, shared_memory, impossible };

  std::int64_t blocks = 0, warps = 0;  //!< on one multiprocessor
  double share = 0;                    //!< of the warps it could hold
  Limit limit = Limit::impossible;
};

std::string to_string(Occupancy::Limit limit);  //!< "registers", "shared memory" …

//! By the rules of NVIDIA's occupancy calculator. Where several limits agree the one named first above is given, but
//! warps before blocks.
Occupancy occupancy_of(const GpuProfile& gpu, std::uint32_t threads_per_block, std::uint32_t registers_per_thread,
                       std::uint64_t shared_bytes_per_block);

}  // namespace cudal1::vgpu
